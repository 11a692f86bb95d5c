// Tiles in registers, spread over the threads of a lane, and views of windows.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/copy.cuh"
#include "muster/fabric/gpu/packet.cuh"
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

// Adds to memory that other GPUs add to at the same time. Nobody reads it before a barrier.
template <class T>
MUSTER_FN void atomic_add(T* element, T value) {
  if constexpr (sizeof(T) >= 4 && std::is_arithmetic_v<T>) {
    cuda::atomic_ref<T, cuda::thread_scope_system>(*element).fetch_add(value,
                                                                       cuda::memory_order_relaxed);
  } else {
    // Narrow types, and those that only their header knows: exchange the word that holds them.
    static_assert(sizeof(T) == 1 || sizeof(T) == 2, "remote_add takes numbers of 1 to 8 bytes");
    const auto address = reinterpret_cast<std::uintptr_t>(element);
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system> word(
        *reinterpret_cast<std::uint32_t*>(address & ~std::uintptr_t{3}));
    const auto shift = static_cast<std::uint32_t>(address & 3) * 8;
    using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
    constexpr std::uint32_t ones = static_cast<Bits>(~Bits{0});
    std::uint32_t seen = word.load(cuda::memory_order_relaxed);
    std::uint32_t wanted = 0;
    do {
      const auto old_bits = static_cast<Bits>(seen >> shift);
      T sum;
      std::memcpy(static_cast<void*>(&sum), &old_bits, sizeof(T));
      sum = static_cast<T>(sum + value);
      Bits new_bits;
      std::memcpy(&new_bits, &sum, sizeof(T));
      wanted = (seen & ~(ones << shift)) | (static_cast<std::uint32_t>(new_bits) << shift);
    } while (!word.compare_exchange_weak(seen, wanted, cuda::memory_order_relaxed));
  }
}

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
  // May each row be touched in units of `bytes`, counted from its first element?
  [[nodiscard]] MUSTER_FN bool aligned(std::size_t bytes) const {
    const auto step = static_cast<std::uintptr_t>(stride) * sizeof(T);
    return ((reinterpret_cast<std::uintptr_t>(origin) | step) % bytes) == 0;
  }
};

// Elements that one thread holds side by side, and moves with one instruction where it can.
template <class T, int width>
struct alignas(sizeof(T) * width) Group {
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

// R x C elements of T in the registers of `static_threads` threads. Groups of up to 16 bytes
// of a row are dealt to the threads in turn, group g to thread g % threads. With static_threads 0
// the number comes from the launch and each thread keeps room for a lane of 32; prefer Block<N>.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads>
class Tile {
  static_assert(std::is_trivially_copyable_v<T> && R > 0 && C > 0 && R * C < (1 << 30));
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "elements of 1, 2, 4, 8 or 16 bytes");

 public:
  using value_type = T;
  static constexpr std::int64_t rows = R;
  static constexpr std::int64_t cols = C;
  static constexpr std::int64_t packet_lines = muster::packet_lines<T>(R * C);
  static constexpr std::uint32_t least_threads = static_threads > 0 ? static_threads : 32;

  MUSTER_FN Tile(std::uint32_t thread, std::uint32_t threads)
      : thread_(thread), threads_(threads) {}

  // visit(row, col, element) for each element of the calling thread.
  template <class Visit>
  MUSTER_FN void each(Visit&& visit) {
    each_group([&](int row, int col, Group& group) {
      detail::repeat<width>(
          [&](int i) { visit(std::int64_t{row}, std::int64_t{col} + i, group.element[i]); });
    });
  }

  // From memory; elements beyond the patch become T{}.
  MUSTER_FN void read(const detail::Patch<T>& patch) {
    if (whole(patch)) {
      each_group([&](int row, int col, Group& group) {
        const Wide wide = *reinterpret_cast<const Wide*>(patch.at(row, col));
        std::memcpy(static_cast<void*>(&group), &wide, sizeof(Group));
      });
      return;
    }
    each_group([&](int row, int col, Group& group) {
      detail::repeat<width>([&](int i) {
        group.element[i] = patch.holds(row, col + i) ? *patch.at(row, col + i) : T{};
      });
    });
  }

  MUSTER_FN void write(const detail::Patch<T>& patch) {
    if (whole(patch)) {
      each_group([&](int row, int col, Group& group) {
        Wide wide;
        std::memcpy(&wide, &group, sizeof(Group));
        *reinterpret_cast<Wide*>(patch.at(row, col)) = wide;
      });
      return;
    }
    each_group([&](int row, int col, Group& group) {
      detail::repeat<width>([&](int i) {
        if (patch.holds(row, col + i)) *patch.at(row, col + i) = group.element[i];
      });
    });
  }

  // Atomically, element by element.
  MUSTER_FN void add_to(const detail::Patch<T>& patch) {
    each_group([&](int row, int col, Group& group) {
      detail::repeat<width>([&](int i) {
        if (patch.holds(row, col + i)) detail::atomic_add(patch.at(row, col + i), group.element[i]);
      });
    });
  }

  // The thread's share of the tile as packets. Neighbouring threads write neighbouring pieces.
  MUSTER_FN void put_packets(std::uint64_t* packets, std::uint32_t flag) {
    each_group([&](int row, int col, Group& group) {
      GroupWords words;
      std::memcpy(words.word, &group, sizeof(Group));
      detail::repeat<group_words / in_piece>([&](int i) {
        detail::store_packets<in_piece>(piece(packets, row, col, i), words.word + i * in_piece,
                                        flag);
      });
    });
  }

  // Reads the share. False where a packet has another flag: then the elements mean nothing yet.
  [[nodiscard]] MUSTER_FN bool take_packets(std::uint64_t* packets, std::uint32_t flag) {
    std::uint32_t other = 0;
    each_group([&](int row, int col, Group& group) {
      GroupWords words;
      detail::repeat<group_words / in_piece>([&](int i) {
        other |= detail::load_packets<in_piece>(piece(packets, row, col, i),
                                                words.word + i * in_piece, flag);
      });
      std::memcpy(static_cast<void*>(&group), words.word, sizeof(Group));
    });
    return other == 0;
  }

  // A word that cannot be known before every element has arrived from memory.
  [[nodiscard]] MUSTER_FN std::uint32_t digest() const {
    std::uint32_t all = 0;
    detail::repeat<per_thread>([&](int k) {
      GroupWords words;
      std::memcpy(words.word, &groups_[k], sizeof(Group));
      for (const std::uint32_t one : words.word) all |= one;
    });
    return all;
  }

 private:
  static constexpr int width = detail::group_width<T>(static_cast<int>(R), static_cast<int>(C),
                                                      static_cast<int>(static_threads));
  static constexpr std::uint32_t groups = static_cast<std::uint32_t>(R * C) / width;
  static constexpr int per_thread = static_cast<int>((groups + least_threads - 1) / least_threads);
  using Group = detail::Group<T, width>;
  using Wide = detail::Unit<sizeof(Group)>;
  static constexpr int group_words = (sizeof(Group) + 3) / 4;
  static constexpr int in_piece = group_words > 1 ? 2 : 1;  // packets that one instruction moves
  struct GroupWords {
    std::uint32_t word[group_words] = {};
  };

  // Piece i of all groups, group by group, follows piece i - 1 of them all.
  [[nodiscard]] MUSTER_FN static std::uint64_t* piece(std::uint64_t* packets, int row, int col,
                                                      int i) {
    const auto group = static_cast<std::uint32_t>(row * static_cast<int>(C) + col) / width;
    return packets + std::int64_t{static_cast<std::uint32_t>(i) * groups + group} * in_piece;
  }

  // Does the patch cover the tile, so that groups move in one piece?
  [[nodiscard]] MUSTER_FN static bool whole(const detail::Patch<T>& patch) {
    return patch.rows >= rows && patch.cols >= cols && (width == 1 || patch.aligned(sizeof(Group)));
  }

  // Indices are constants once unrolled, so that the groups stay in registers.
  template <class Visit>
  MUSTER_FN void each_group(Visit&& visit) {
    const std::uint32_t step = static_threads > 0 ? static_threads : threads_;
    detail::repeat<per_thread>([&](int k) {
      const std::uint32_t g = thread_ + static_cast<std::uint32_t>(k) * step;
      const bool everybody = static_threads > 0 &&  // has a group of this turn
                             static_cast<std::uint32_t>(k + 1) * static_threads <= groups;
      constexpr std::uint32_t in_row = static_cast<std::uint32_t>(C) / width;
      const std::uint32_t row = R == 1 ? 0 : g / in_row;
      if (everybody || g < groups)
        visit(static_cast<int>(row), static_cast<int>((g - row * in_row) * width), groups_[k]);
    });
  }

  std::uint32_t thread_;
  std::uint32_t threads_;
  Group groups_[per_thread]{};
};

}  // namespace muster::gpu
