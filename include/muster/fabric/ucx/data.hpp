// The network fabric's data side: views, tiles and transfers. Included by muster/fabric/ucx.hpp.
#pragma once

#include <cstring>

#include "muster/fabric/ucx.hpp"

namespace muster::ucx {

namespace detail {

template <class T>
[[nodiscard]] constexpr Number number_of() {
  if constexpr (std::is_same_v<T, float>) return Number::float32;
  if constexpr (std::is_same_v<T, double>) return Number::float64;
  if constexpr (std::is_same_v<T, float16>) return Number::half;
  if constexpr (std::is_same_v<T, bfloat16>) return Number::brain;
  static_assert(std::is_integral_v<T> || std::is_floating_point_v<T> ||
                std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>);
  return sizeof(T) == 1   ? Number::word8
         : sizeof(T) == 2 ? Number::word16
         : sizeof(T) == 4 ? Number::word32
                          : Number::word64;
}

}  // namespace detail

template <class T>
std::int64_t Fabric::elements_of(WindowRef<T> window) const {
  if (window.segment >= max_segments) return -1;
  const Segment& there = context_.segments[window.segment];
  std::int64_t size = 0;
  const bool fits = !__builtin_mul_overflow(window.rows, window.cols, &size) &&
                    (window.rows | window.cols) >= 0 && !there.cells &&
                    window.offset < there.bytes &&
                    static_cast<std::uint64_t>(size) <= (there.bytes - window.offset) / sizeof(T);
  return fits && there.team == window.team && context_.teams[there.team] ? size : -1;
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window) {
  if (elements_of(window) >= 0) [[likely]]
    return true;
  context_.wire->reject(std::string(what) + ": there is no such window in this team (segment " +
                        std::to_string(window.segment) + ", offset " +
                        std::to_string(window.offset) + "; freed, or another team's)");
  return false;
}

template <class T>
Fabric::View<T> Fabric::local(WindowRef<T> window) {
  if (admits("local", window)) [[likely]]
    return View<T>(memory_of(window, 0), window.size());
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  std::int64_t size = 0;
  const bool counted = !__builtin_mul_overflow(window.rows, window.cols, &size) && size > 0 &&
                       size <= most / static_cast<std::int64_t>(sizeof(T));
  std::byte* const memory =
      counted ? Wire::nowhere(static_cast<std::uint64_t>(size) * sizeof(T)) : nullptr;
  return View<T>(reinterpret_cast<T*>(memory), memory == nullptr ? 0 : size);
}

inline bool Fabric::fits(const char* what, std::int64_t rows, std::int64_t cols, Box box,
                         std::int64_t tile_rows, std::int64_t tile_cols) {
  const bool inside = box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
                      box.rows <= tile_rows && box.cols <= tile_cols &&
                      box.row <= rows - box.rows && box.col <= cols - box.cols;
  if (inside) [[likely]]
    return true;
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  context_.wire->reject(std::string(what) + ": box of " + text(box.rows) + " x " + text(box.cols) +
                        " elements at (" + text(box.row) + ", " + text(box.col) +
                        "); it must lie inside the " + text(rows) + " x " + text(cols) +
                        " that are there and be at most the tile's " + text(tile_rows) + " x " +
                        text(tile_cols) + " (extents are elements, not bytes)");
  return false;
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, Box box, std::int64_t rows,
                    std::int64_t cols) {
  return admits_peer(what, peer) && admits(what, window) &&
         fits(what, window.rows, window.cols, box, rows, cols) && status() == WaitStatus::ok;
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, std::int64_t at,
                    std::int64_t count) {
  if (!admits_peer(what, peer) || !admits(what, window)) return false;
  const bool inside = at >= 0 && count >= 0 && at <= window.size() - count;
  if (inside) [[likely]]
    return status() == WaitStatus::ok;
  context_.wire->reject(std::string(what) + ": " + std::to_string(count) + " elements at " +
                        std::to_string(at) + "; the window has " + std::to_string(window.size()) +
                        " (positions and counts are elements, not bytes)");
  return false;
}

// ---- tiles

template <class T, std::int64_t R, std::int64_t C>
void Fabric::clear_beyond(Tile<T, R, C>& tile, Box box) {
  for (std::int64_t row = 0; row + 1 < box.rows; ++row) {
    T* const line = &tile.elements_[tile.index(row, 0)];
    for (std::int64_t col = box.cols; col < C; ++col) line[col] = T{};
  }
  tile.filled_ = box.rows > 0 ? (box.rows - 1) * C + box.cols : 0;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::read(Tile<T, R, C>& tile, const T* memory, std::int64_t stride, Box box) {
  const std::size_t bytes = static_cast<std::size_t>(box.cols) * sizeof(T);
  for (std::int64_t row = 0; row < box.rows && bytes > 0; ++row)
    std::memcpy(static_cast<void*>(&tile.elements_[tile.index(row, 0)]), memory + row * stride,
                bytes);
  clear_beyond(tile, box);
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::write(const Tile<T, R, C>& tile, T* memory, std::int64_t stride, Box box) {
  if (box.cols == 0 || box.rows == 0) return;
  tile.fill((box.rows - 1) * C + box.cols);
  for (std::int64_t row = 0; row < box.rows; ++row)
    std::memcpy(static_cast<void*>(memory + row * stride), &tile.elements_[tile.index(row, 0)],
                static_cast<std::size_t>(box.cols) * sizeof(T));
}

// Rows that touch each other on both sides are one row.
template <class T, std::int64_t R, std::int64_t C>
Strides Fabric::strides_of(WindowRef<T> window, Box box) {
  const auto bytes = [](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  };
  if (box.cols == C && window.cols == C) return {1, bytes(box.rows * C), 0, 0};
  return {box.rows, bytes(box.cols), bytes(C), bytes(window.cols)};
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_load", window, peer, box, R, C)) [[unlikely]]
    return status();
  const std::int64_t at = window.at(box.row, box.col);
  if (is_own(peer)) {
    read(tile, memory_of(window, at), window.cols, box);
    return WaitStatus::ok;
  }
  WaitStatus loaded = WaitStatus::ok;
  if (box.rows > 0 && box.cols > 0)
    loaded = context_.wire->load(peer, place_of(window, at), tile.elements_.get(),
                                 strides_of<T, R, C>(window, box));
  clear_beyond(tile, box);
  return loaded;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_store(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_store", window, peer, box, R, C)) [[unlikely]]
    return;
  const std::int64_t at = window.at(box.row, box.col);
  if (is_own(peer)) return write(tile, memory_of(window, at), window.cols, box);
  if (box.rows == 0 || box.cols == 0) return;
  tile.fill((box.rows - 1) * C + box.cols);
  context_.wire->store(peer, place_of(window, at), tile.elements_.get(),
                       strides_of<T, R, C>(window, box));
}

template <class T, class U, std::int64_t R, std::int64_t C>
requires std::is_same_v<std::remove_const_t<U>, T>
void Fabric::load(Tile<T, R, C>& tile, MemoryRef<U> memory, Box box) {
  if (!fits("load of plain memory", memory.rows, memory.cols, box, R, C)) [[unlikely]]
    return;
  read(tile, static_cast<const T*>(memory.data) + memory.at(box.row, box.col), memory.cols, box);
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::store(Tile<T, R, C>& tile, MemoryRef<T> memory, Box box) {
  if (!fits("store to plain memory", memory.rows, memory.cols, box, R, C)) [[unlikely]]
    return;
  write(tile, memory.data + memory.at(box.row, box.col), memory.cols, box);
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_add(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  static_assert(std::atomic_ref<T>::is_always_lock_free && !std::is_same_v<T, bool>,
                "remote_add takes numbers of 1, 2, 4 or 8 bytes");
  if (!admits("remote_add", window, peer, box, R, C)) [[unlikely]]
    return;
  if (box.rows == 0 || box.cols == 0) return;
  tile.fill();
  const std::int64_t at = window.at(box.row, box.col);
  const Strides strides = strides_of<T, R, C>(window, box);
  if (is_own(peer))
    Wire::add_here(memory_of(window, at), tile.elements_.get(), strides, detail::number_of<T>());
  else
    context_.wire->add(peer, place_of(window, at), tile.elements_.get(), strides,
                       detail::number_of<T>());
}

// ---- transfers

template <class T>
bool Fabric::admits_move(const char* const (&names)[2], WindowRef<T> to, Rank to_rank,
                         std::int64_t to_at, WindowRef<T> from, Rank from_rank,
                         std::int64_t from_at, std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  converge();
  return admits(names[0], to, to_rank, to_at, count) &&
         admits(names[1], from, from_rank, from_at, count) && count > 0;
}

template <class T>
void Fabric::move_here(T* target, std::int64_t to_at, const T* source, std::int64_t from_at,
                       std::int64_t count) {
  if (target < source + count && source < target + count) [[unlikely]]
    return context_.wire->reject("transfer within a rank: source and target overlap (" +
                                 std::to_string(count) + " elements from " +
                                 std::to_string(from_at) + " to " + std::to_string(to_at) +
                                 "); they must be apart");
  std::memcpy(static_cast<void*>(target), source, static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
void Fabric::put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                 std::int64_t from_at, std::int64_t count) {
  if (!admits_move({"put (target)", "put (source)"}, to, peer, to_at, from, context_.rank, from_at,
                   count))
    return;
  const T* const source = memory_of(from, from_at);
  if (is_own(peer)) return move_here(memory_of(to, to_at), to_at, source, from_at, count);
  context_.wire->put(peer, place_of(to, to_at), source,
                     static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
WaitStatus Fabric::get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                       std::int64_t from_at, std::int64_t count) {
  if (!admits_move({"get (target)", "get (source)"}, to, context_.rank, to_at, from, peer, from_at,
                   count))
    return status();
  T* const target = memory_of(to, to_at);
  if (is_own(peer)) {
    move_here(target, to_at, memory_of(from, from_at), from_at, count);
    return status();
  }
  return context_.wire->get(peer, place_of(from, from_at), target,
                            static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
Request Fabric::put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                          std::int64_t from_at, std::int64_t count) {
  if (!admits_move({"put (target)", "put (source)"}, to, peer, to_at, from, context_.rank, from_at,
                   count))
    return {};
  const T* const source = memory_of(from, from_at);
  if (is_own(peer))
    return move_here(memory_of(to, to_at), to_at, source, from_at, count), Request{};
  return context_.wire->put_async(peer, place_of(to, to_at), source,
                                  static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
Request Fabric::get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                          std::int64_t from_at, std::int64_t count) {
  if (!admits_move({"get (target)", "get (source)"}, to, context_.rank, to_at, from, peer, from_at,
                   count))
    return {};
  T* const target = memory_of(to, to_at);
  if (is_own(peer))
    return move_here(target, to_at, memory_of(from, from_at), from_at, count), Request{};
  return context_.wire->get_async(peer, place_of(from, from_at), target,
                                  static_cast<std::size_t>(count) * sizeof(T));
}

inline WaitStatus Fabric::flush(Rank peer) {
  converge();
  if (!admits_peer("flush", peer)) return status();
  return is_own(peer) ? status() : context_.wire->flush(peer);
}

inline void Fabric::refuse_peer(const char* what, Rank peer) {
  context_.wire->reject(std::string(what) + ": peer is rank " + std::to_string(peer.value) +
                        "; this team has ranks 0 to " + std::to_string(context_.size - 1));
}

inline void Fabric::refuse(Signal signal, Rank peer) {
  if (peer.value >= context_.size) return refuse_peer("signal", peer);
  context_.wire->reject("signal: cell " + std::to_string(signal.cell) + " of segment " +
                        std::to_string(signal.segment) +
                        " belongs to no rows or signals of this team (freed, out of bounds, or "
                        "another team's)");
}

}  // namespace muster::ucx
