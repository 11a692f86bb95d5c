// Tiles in registers, spread over the threads of a lane, and views of windows.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/atomic_add.cuh"
#include "muster/fabric/gpu/copy.cuh"
#include "muster/fabric/gpu/packed.cuh"
#include "muster/fabric/gpu/packet.cuh"
#include "muster/fabric/gpu/sentinel.cuh"
#include "muster/fabric/sentinel.hpp"
#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster::gpu {

// A window's memory on one rank, row-major. A value read through it is complete when it is used:
// use it before a converge whose relaxed notify gives the memory away (see Fabric::converge).
template <class T>
class View {
 public:
  using value_type = T;

  MUSTER_FN View(T* data, std::int64_t size) : data_(data), size_(size) {}
  [[nodiscard]] MUSTER_FN T& operator[](std::int64_t element) const { return data_[element]; }
  [[nodiscard]] MUSTER_FN T* data() const { return data_; }
  [[nodiscard]] MUSTER_FN std::int64_t size() const { return size_; }

 private:
  T* data_;
  std::int64_t size_;
};

namespace detail {

// Where a tile meets memory: a rectangle of rows x cols elements, `stride` elements from row to
// row.
template <class T>
struct Patch {
  T* origin;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t cols;

  [[nodiscard]] MUSTER_FN T* at(std::int64_t row, std::int64_t col) const {
    return origin + row * stride + col;
  }
  [[nodiscard]] MUSTER_FN bool holds(std::int64_t row, std::int64_t col) const {
    return row < rows && col < cols;
  }
  [[nodiscard]] MUSTER_FN Patch<const T> constant() const { return {origin, stride, rows, cols}; }
  // May each row be touched in units of `bytes`, counted from its first element?
  [[nodiscard]] MUSTER_FN bool aligned(std::size_t bytes) const {
    const auto step = static_cast<std::uintptr_t>(stride) * sizeof(T);
    return ((reinterpret_cast<std::uintptr_t>(origin) | step) % bytes) == 0;
  }
};

// Elements that one thread holds side by side, and moves in units of up to 16 bytes.
template <class T, int width>
struct alignas(sizeof(T) * width < 16 ? sizeof(T) * width : 16) Piece {
  T element[width];
};

// As wide as leaves no thread idle: a small tile is wanted soon, and comes sooner in many hands.
// But no group is less than a word, where it can be one.
template <class T>
[[nodiscard]] constexpr int group_width(int rows, int cols, int threads) {
  int width = 1;
  while (2 * width * sizeof(T) <= 16 && cols % (2 * width) == 0 &&
         (2 * width * sizeof(T) <= 4 || rows * cols / (2 * width) >= threads))
    width *= 2;
  return width;
}

}  // namespace detail

// R x C elements of T in the registers of `static_threads` threads. Groups of `width` elements of a
// row are dealt to the threads in turn, group g to thread g % threads; they are of up to 16 bytes,
// but where the tile is like another whose elements are narrower. With static_threads 0 the number
// comes from the launch and each thread keeps room for a lane of 32; prefer Block<N>.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads,
          int width = detail::group_width<T>(static_cast<int>(R), static_cast<int>(C),
                                             static_cast<int>(static_threads))>
class Tile : public muster::detail::TileArithmetic<Tile<T, R, C, static_threads, width>> {
  static_assert(std::is_trivially_copyable_v<T> && R > 0 && C > 0 && R * C < (1 << 30));
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "elements of 1, 2, 4, 8 or 16 bytes");

  static constexpr std::uint32_t groups = static_cast<std::uint32_t>(R * C) / width;

 public:
  using value_type = T;
  static constexpr std::int64_t rows = R;
  static constexpr std::int64_t cols = C;
  static constexpr std::int64_t packet_lines = muster::packet_lines<T>(R * C);
  static constexpr std::int64_t sentinel_lines = [] {
    if constexpr (HasSentinel<T>) return muster::sentinel_lines<T>(R, C);
    return std::int64_t{0};
  }();
  static constexpr std::uint32_t least_threads = static_threads > 0 ? static_threads : 32;
  static constexpr int group_size = width;
  static constexpr std::int64_t most_per_thread =
      std::int64_t{(groups + least_threads - 1) / least_threads} * width;

  MUSTER_FN Tile(std::uint32_t thread, std::uint32_t threads)
      : thread_(thread), threads_(threads) {}

  // visit(row, col, element) for each element of the calling thread.
  template <class Visit>
  MUSTER_FN void each(Visit&& visit) {
    each_piece([&](int row, int col, Piece& piece) {
      detail::repeat<width>(
          [&](int i) { visit(std::int64_t{row}, std::int64_t{col} + i, piece.element[i]); });
    });
  }

  // visit(row, col, Group<T, group_size>) for each group of the calling thread.
  template <class Visit>
  MUSTER_FN void each_group(Visit&& visit) {
    each_piece([&](int row, int col, Piece& piece) {
      visit(std::int64_t{row}, std::int64_t{col}, Group<T, width>(piece.element));
    });
  }

  // visit(element, other's element) for each element of the calling thread.
  template <class U, class Visit>
  MUSTER_FN void zip(const Tile<U, R, C, static_threads, width>& other, Visit&& visit) {
    detail::repeat<per_thread>([&](int k) {
      if (holds(k))
        detail::repeat<width>(
            [&](int i) { visit(share_.piece[k].element[i], other.share_.piece[k].element[i]); });
    });
  }

  // From memory; elements beyond the patch become T{}.
  MUSTER_FN void read(const detail::Patch<const T>& patch) {
    if (whole(patch))
      each_piece([&](int row, int col, Piece& piece) {
        detail::repeat<units>([&](int u) {
          const auto wide = *reinterpret_cast<const Wide*>(patch.at(row, col + u * in_unit));
          std::memcpy(static_cast<void*>(piece.element + u * in_unit), &wide, sizeof(Wide));
        });
      });
    else if constexpr (ragged_apart)
      share_ = read_apart(patch, thread_, threads_);
    else
      read_ragged(patch);
  }

  MUSTER_FN void write(const detail::Patch<T>& patch) {
    if (whole(patch))
      each_piece([&](int row, int col, Piece& piece) {
        detail::repeat<units>([&](int u) {
          Wide wide;
          std::memcpy(&wide, piece.element + u * in_unit, sizeof(Wide));
          detail::store_unit(reinterpret_cast<Wide*>(patch.at(row, col + u * in_unit)), wide);
        });
      });
    else if constexpr (ragged_apart)
      write_apart(share_, patch, thread_, threads_);
    else
      write_ragged(patch);
  }

  // Atomically, element by element.
  MUSTER_FN void add_to(const detail::Patch<T>& patch) {
    each_piece([&](int row, int col, Piece& piece) {
      detail::repeat<width>([&](int i) {
        if (patch.holds(row, col + i)) detail::atomic_add(patch.at(row, col + i), piece.element[i]);
      });
    });
  }

  // The thread's share of the tile as packets. Neighbouring threads write neighbouring pieces.
  MUSTER_FN void put_packets(std::uint64_t* packets, std::uint32_t flag) {
    each_piece([&](int row, int col, Piece& piece) {
      PieceWords words;
      std::memcpy(words.word, &piece, sizeof(Piece));
      detail::repeat<piece_words / at_once>([&](int i) {
        detail::store_packets<at_once>(place(packets, row, col, i), words.word + i * at_once, flag);
      });
    });
  }

  // Reads the share. False where a packet has another flag: then the elements mean nothing yet.
  [[nodiscard]] MUSTER_FN bool take_packets(std::uint64_t* packets, std::uint32_t flag) {
    std::uint32_t other = 0;
    each_piece([&](int row, int col, Piece& piece) {
      PieceWords words;
      detail::repeat<piece_words / at_once>([&](int i) {
        other |= detail::load_packets<at_once>(place(packets, row, col, i),
                                               words.word + i * at_once, flag);
      });
      std::memcpy(static_cast<void*>(&piece), words.word, sizeof(Piece));
    });
    return other == 0;
  }

  // ---- slots whose data is its own flag; fabric/gpu/sentinel.cuh

  MUSTER_FN void replace_sentinel() {
    detail::repeat<per_thread>([&](int k) {
      PieceWords words;
      std::memcpy(words.word, &share_.piece[k], sizeof(Piece));
      detail::replace_sentinel_in<T>(words.word);
      std::memcpy(static_cast<void*>(&share_.piece[k]), words.word, sizeof(Piece));
    });
  }
  MUSTER_FN void put_sentinel(std::uint32_t* slots) {
    static_assert(slots_bytes <= sentinel_lines * 64,
                  "send a tile<T, R, C>(), not one like another");
    each_unit(slots, [](auto* to, std::uint32_t* words, auto unit) {
      for (std::uint32_t& word : unit.word) word = ~*words++;
      detail::store_unit(to, unit);
    });
  }
  // Reads the share. False where some of it has not come: then the elements mean nothing yet.
  [[nodiscard]] MUSTER_FN bool take_sentinel(std::uint32_t* slots) {
    bool all = true;
    each_unit(slots, [&](auto* from, std::uint32_t* words, auto unit) {
      unit = detail::load_unit(from);
      all = detail::has_come<T>(unit) && all;
      for (const std::uint32_t word : unit.word) *words++ = ~word;
    });
    return all;
  }
  MUSTER_FN void clear_sentinel(std::uint32_t* slots) const {
    Tile shape(thread_, threads_);
    shape.each_unit(slots,
                    [](auto* to, std::uint32_t*, auto unit) { detail::store_unit(to, unit); });
  }

  // A word that cannot be known before every element has arrived from memory.
  [[nodiscard]] MUSTER_FN std::uint32_t digest() const {
    std::uint32_t all = 0;
    detail::repeat<per_thread>([&](int k) {
      PieceWords words;
      std::memcpy(words.word, &share_.piece[k], sizeof(Piece));
      for (const std::uint32_t one : words.word) all |= one;
    });
    return all;
  }

 private:
  template <class U, std::int64_t R2, std::int64_t C2, std::uint32_t threads2, int width2>
  friend class Tile;
  friend muster::detail::TileArithmetic<Tile>;

  static constexpr int per_thread = static_cast<int>(most_per_thread) / width;
  using Piece = detail::Piece<T, width>;
  static constexpr int unit_bytes = sizeof(Piece) < 16 ? static_cast<int>(sizeof(Piece)) : 16;
  using Wide = detail::Unit<unit_bytes>;
  static constexpr int in_unit = unit_bytes / static_cast<int>(sizeof(T));
  static constexpr int units = width / in_unit;
  static constexpr int piece_words = (sizeof(Piece) + 3) / 4;
  static constexpr int at_once = piece_words > 1 ? 2 : 1;  // packets that one instruction moves
  struct PieceWords {
    std::uint32_t word[piece_words] = {};
  };
  static constexpr int slot_bytes = unit_bytes < 4 ? 4 : unit_bytes;
  static constexpr int slot_words = slot_bytes / 4;
  static constexpr std::int64_t slots_bytes =
      std::int64_t{groups} * (piece_words / slot_words) * slot_bytes;

  // visit(where, words, unit) for each unit of the thread's pieces, which becomes what visit leaves
  // in `words`. Part i of all pieces, piece by piece, follows part i - 1 of them all.
  template <class Visit>
  MUSTER_FN void each_unit(std::uint32_t* slots, Visit&& visit) {
    using Unit = detail::SentinelUnit<slot_bytes>;
    each_piece([&](int row, int col, Piece& piece) {
      const auto group = static_cast<std::uint32_t>(row * static_cast<int>(C) + col) / width;
      PieceWords words;
      std::memcpy(words.word, &piece, sizeof(Piece));
      detail::repeat<piece_words / slot_words>([&](int i) {
        const std::uint32_t at = static_cast<std::uint32_t>(i) * groups + group;
        visit(reinterpret_cast<Unit*>(slots) + at, words.word + i * slot_words, Unit{});
      });
      std::memcpy(static_cast<void*>(&piece), words.word, sizeof(Piece));
    });
  }

  struct Share {  // of one thread
    Piece piece[per_thread];
  };

  // Is the part that goes element by element a function of its own, on copies, so that the tile
  // stays in registers where it is called from? Not where that part is shorter than the call.
  static constexpr bool ragged_apart = most_per_thread > 4;

  // Part i of all pieces, piece by piece, follows part i - 1 of them all.
  [[nodiscard]] MUSTER_FN static std::uint64_t* place(std::uint64_t* packets, int row, int col,
                                                      int i) {
    const auto group = static_cast<std::uint32_t>(row * static_cast<int>(C) + col) / width;
    return packets + std::int64_t{static_cast<std::uint32_t>(i) * groups + group} * at_once;
  }

  // Does the patch cover the tile, so that pieces move in units?
  template <class From>
  [[nodiscard]] MUSTER_FN static bool whole(const detail::Patch<From>& patch) {
    return patch.rows >= rows && patch.cols >= cols && (width == 1 || patch.aligned(unit_bytes));
  }

  MUSTER_FN void read_ragged(const detail::Patch<const T>& patch) {
    each_piece([&](int row, int col, Piece& piece) {
      detail::repeat<width>([&](int i) {
        piece.element[i] = patch.holds(row, col + i) ? *patch.at(row, col + i) : T{};
      });
    });
  }
  MUSTER_FN void write_ragged(const detail::Patch<T>& patch) {
    each_piece([&](int row, int col, Piece& piece) {
      detail::repeat<width>([&](int i) {
        if (patch.holds(row, col + i)) *patch.at(row, col + i) = piece.element[i];
      });
    });
  }
  [[gnu::noinline]] MUSTER_FN static Share read_apart(detail::Patch<const T> patch,
                                                      std::uint32_t thread, std::uint32_t threads) {
    Tile tile(thread, threads);
    tile.read_ragged(patch);
    return tile.share_;
  }
  [[gnu::noinline]] MUSTER_FN static void write_apart(Share share, detail::Patch<T> patch,
                                                      std::uint32_t thread, std::uint32_t threads) {
    Tile tile(thread, threads);
    tile.share_ = share;
    tile.write_ragged(patch);
  }

  // ---- arithmetic (TileArithmetic)

  // Each element becomes next(element, other's element).
  template <class U, class Next>
  MUSTER_FN void update(const Tile<U, R, C, static_threads, width>& other, Next next) {
    zip(other, [&](T& mine, const U& theirs) { mine = next(mine, theirs); });
  }

  template <class Other, class Op>
  static constexpr bool packs =
      std::is_same_v<Other, Tile>&& detail::has_packed<T, Op>&& width % 2 == 0;

  template <class Op>
  MUSTER_FN void combine_packed(const Tile& other, Op op) {
    detail::repeat<per_thread>([&](int k) {
      if (!holds(k)) return;
      PieceWords mine;
      PieceWords theirs;
      std::memcpy(mine.word, &share_.piece[k], sizeof(Piece));
      std::memcpy(theirs.word, &other.share_.piece[k], sizeof(Piece));
      detail::repeat<piece_words>(
          [&](int i) { mine.word[i] = detail::packed<T>(op, mine.word[i], theirs.word[i]); });
      std::memcpy(static_cast<void*>(&share_.piece[k]), mine.word, sizeof(Piece));
    });
  }

  // ---- who holds what

  [[nodiscard]] MUSTER_FN std::uint32_t number_of(int k) const {  // of the thread's k-th group
    const std::uint32_t step = static_threads > 0 ? static_threads : threads_;
    return thread_ + static_cast<std::uint32_t>(k) * step;
  }
  [[nodiscard]] MUSTER_FN bool holds(int k) const {
    const bool everybody = static_threads > 0 &&  // has a group of this turn
                           static_cast<std::uint32_t>(k + 1) * static_threads <= groups;
    return everybody || number_of(k) < groups;
  }

  // Indices are constants once unrolled, so that the pieces stay in registers.
  template <class Visit>
  MUSTER_FN void each_piece(Visit&& visit) {
    detail::repeat<per_thread>([&](int k) {
      constexpr std::uint32_t in_row = static_cast<std::uint32_t>(C) / width;
      const std::uint32_t g = number_of(k);
      const std::uint32_t row = R == 1 ? 0 : g / in_row;
      if (holds(k))
        visit(static_cast<int>(row), static_cast<int>((g - row * in_row) * width), share_.piece[k]);
    });
  }

  std::uint32_t thread_;
  std::uint32_t threads_;
  Share share_{};
};

}  // namespace muster::gpu
