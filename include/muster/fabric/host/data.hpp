// The host fabric's data side: views, tiles and transfers. Included by muster/fabric/host.hpp.
#pragma once

#include "muster/fabric/host.hpp"

namespace muster::host {

namespace detail {

// The largest view of a window that does not exist, in bytes: a larger one is empty.
inline constexpr std::uint64_t max_view = 1ULL << 44U;

}  // namespace detail

template <class T>
inline T* Fabric::memory_of(WindowRef<T> window, Rank peer) const {
  std::byte* base = context_.segments[window.segment].memory[peer.value];
  return reinterpret_cast<T*>(base + window.offset);
}

template <class T>
inline std::int64_t Fabric::elements_of(WindowRef<T> window) const {
  if (window.segment >= max_segments || window.team >= max_teams) return -1;
  const std::uint64_t bytes = context_.segments[window.segment].bytes;
  std::int64_t size = 0;
  const bool there = !__builtin_mul_overflow(window.rows, window.cols, &size) &&
                     (window.rows | window.cols) >= 0 && window.offset < bytes &&
                     static_cast<std::uint64_t>(size) <= (bytes - window.offset) / sizeof(T) &&
                     context_.teams[window.team];
  return there ? size : -1;
}

template <class T>
inline bool Fabric::admits(const char* what, WindowRef<T> window) {
  if (elements_of(window) >= 0 && !context_.verify) [[likely]]
    return true;
  return knows(what, {window.segment, window.team, window.offset, window.rows, window.cols,
                      element_code<std::remove_const_t<T>>});
}

template <class T>
[[gnu::noinline, gnu::cold]] View<T> Fabric::no_memory(WindowRef<T> window) {
  std::int64_t size = 0;
  const bool counted = !__builtin_mul_overflow(window.rows, window.cols, &size) && size > 0 &&
                       static_cast<std::uint64_t>(size) <= detail::max_view / sizeof(T);
  std::byte* const memory =
      counted ? nowhere(static_cast<std::uint64_t>(size) * sizeof(T)) : nullptr;
  return View<T>(reinterpret_cast<T*>(memory), memory == nullptr ? 0 : size);
}

template <class T>
inline View<T> Fabric::address(WindowRef<T> window, Rank peer) {
  if (peer.value >= context_.size) [[unlikely]]
    return reject_peer("address", peer), no_memory(window);
  if (!admits("address", window)) [[unlikely]]
    return no_memory(window);
  return View<T>(memory_of(window, peer), window.size());
}

// Does the box lie inside rows x cols elements, and inside the tile? Reports it where not.
inline bool Fabric::fits(const char* what, std::int64_t rows, std::int64_t cols, Box box,
                         std::int64_t tile_rows, std::int64_t tile_cols) {
  const bool inside = box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
                      box.rows <= tile_rows && box.cols <= tile_cols &&
                      box.row <= rows - box.rows && box.col <= cols - box.cols;
  if (!inside) [[unlikely]]
    reject_box(what, rows, cols, box, tile_rows, tile_cols);
  return inside;
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, Box box, std::int64_t rows,
                    std::int64_t cols) {
  if (peer.value >= context_.size) [[unlikely]]
    return reject_peer(what, peer), false;
  return admits(what, window) && fits(what, window.rows, window.cols, box, rows, cols);
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, std::int64_t at,
                    std::int64_t count) {
  if (peer.value >= context_.size) [[unlikely]]
    return reject_peer(what, peer), false;
  if (!admits(what, window)) [[unlikely]]
    return false;
  const bool inside = at >= 0 && count >= 0 && at <= window.size() - count;
  if (!inside) [[unlikely]]
    reject_run(what, window.size(), at, count);
  return inside;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::read(Tile<T, R, C>& tile, const T* memory, std::int64_t stride, Box box) {
  const std::size_t bytes = static_cast<std::size_t>(box.cols) * sizeof(T);
  for (std::int64_t row = 0; row < box.rows; ++row) {
    T* const line = &tile.elements_[tile.index(row, 0)];
    if (bytes > 0) detail::copy(static_cast<void*>(line), memory + row * stride, bytes);
    for (std::int64_t col = box.cols; row + 1 < box.rows && col < C; ++col) line[col] = T{};
  }
  tile.filled_ = box.rows > 0 ? (box.rows - 1) * C + box.cols : 0;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::write(const Tile<T, R, C>& tile, T* memory, std::int64_t stride, Box box) {
  if (box.cols == 0 || box.rows == 0) return;
  tile.fill((box.rows - 1) * C + box.cols);
  for (std::int64_t row = 0; row < box.rows; ++row)
    detail::copy(static_cast<void*>(memory + row * stride), &tile.elements_[tile.index(row, 0)],
                 static_cast<std::size_t>(box.cols) * sizeof(T));
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_load", window, peer, box, R, C)) [[unlikely]]
    return ending();
  read(tile, memory_of(window, peer) + window.at(box.row, box.col), window.cols, box);
  return WaitStatus::ok;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_store(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_store", window, peer, box, R, C) || silenced(peer)) [[unlikely]]
    return;
  write(tile, memory_of(window, peer) + window.at(box.row, box.col), window.cols, box);
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

namespace detail {
// Relaxed: adds commute, and what orders them before a reader is the notify that follows them.
template <class T>
void atomic_add(T& target, T value) {
  std::atomic_ref<T> element(target);
  if constexpr (std::is_integral_v<T>) {
    element.fetch_add(value, std::memory_order_relaxed);
  } else {
    T seen = element.load(std::memory_order_relaxed);
    while (!element.compare_exchange_weak(seen, static_cast<T>(seen + value),
                                          std::memory_order_relaxed)) {
    }
  }
}
}  // namespace detail

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_add(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  static_assert(std::atomic_ref<T>::is_always_lock_free && !std::is_same_v<T, bool>,
                "remote_add takes numbers of 1, 2, 4 or 8 bytes");
  if (!admits("remote_add", window, peer, box, R, C) || silenced(peer)) [[unlikely]]
    return;
  T* const target = memory_of(window, peer);
  tile.fill();
  for (std::int64_t row = 0; row < box.rows; ++row) {
    for (std::int64_t col = 0; col < box.cols; ++col) {
      detail::atomic_add(target[window.at(box.row + row, box.col + col)],
                         tile.elements_[tile.index(row, col)]);
    }
  }
}

// The window is there and the run lies inside it: all that a run that does not verify looks at.
template <class T>
inline bool Fabric::fits_at_once(WindowRef<T> window, std::int64_t at, std::int64_t count) const {
  const std::int64_t size = elements_of(window);
  return !context_.verify && (at | count | size) >= 0 && at <= size - count;
}

template <class T>
inline void Fabric::move(T* target, std::int64_t to_at, const T* source, std::int64_t from_at,
                         std::int64_t count) {
  if (target < source + count && source < target + count) [[unlikely]]
    return reject_overlap(to_at, from_at, count);
  detail::copy(target, source, static_cast<std::size_t>(count) * sizeof(T));
  detail::complete_loads();  // a put or a get converges
}

// Says what is wrong, or does it all the same in a run that verifies. Apart, so that the short way
// stays short enough to be inlined.
template <class T>
[[gnu::noinline, gnu::cold]] void Fabric::move_slowly(const char* const (&names)[2],
                                                      WindowRef<T> to, Rank to_rank,
                                                      std::int64_t to_at, WindowRef<T> from,
                                                      Rank from_rank, std::int64_t from_at,
                                                      std::int64_t count) {
  if (!admits(names[0], to, to_rank, to_at, count)) return;
  if (!admits(names[1], from, from_rank, from_at, count)) return;
  if (silenced(to_rank)) return;
  move(memory_of(to, to_rank) + to_at, to_at, memory_of(from, from_rank) + from_at, from_at, count);
}

template <class T>
inline void Fabric::put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                        std::int64_t from_at, std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (peer.value >= context_.size || !fits_at_once(to, to_at, count) ||
      !fits_at_once(from, from_at, count)) [[unlikely]]
    return move_slowly({"put (target)", "put (source)"}, to, peer, to_at, from, context_.rank,
                       from_at, count);
  move(memory_of(to, peer) + to_at, to_at, memory_of(from, context_.rank) + from_at, from_at,
       count);
}

template <class T>
inline WaitStatus Fabric::get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                              std::int64_t from_at, std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (peer.value >= context_.size || !fits_at_once(to, to_at, count) ||
      !fits_at_once(from, from_at, count)) [[unlikely]]
    move_slowly({"get (target)", "get (source)"}, to, context_.rank, to_at, from, peer, from_at,
                count);
  else
    move(memory_of(to, context_.rank) + to_at, to_at, memory_of(from, peer) + from_at, from_at,
         count);
  return status();
}

}  // namespace muster::host
