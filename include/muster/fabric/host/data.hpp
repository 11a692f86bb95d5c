// The host fabric's data side: views, tiles and transfers. Included by muster/fabric/host.hpp.
#pragma once

#include "muster/fabric/host.hpp"

namespace muster::host {

template <class T>
View<T> Fabric::address(WindowRef<T> window, Rank peer) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(window.size()) * sizeof(T);
  const bool exists = peer.value < context_.size;
  if (!exists) [[unlikely]]
    reject_peer("address", peer);
  if (!exists || (context_.verify && !knows("window", window.segment, window.offset, bytes)))
      [[unlikely]] {
    return View<T>(reinterpret_cast<T*>(nowhere(bytes)), window.size());
  }
  std::byte* base = context_.segments[window.segment].memory[peer.value];
  return View<T>(reinterpret_cast<T*>(base + window.offset), window.size());
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, Box box, std::int64_t rows,
                    std::int64_t cols) {
  if (peer.value >= context_.size) [[unlikely]]
    return reject_peer(what, peer), false;
  const bool inside = box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
                      box.rows <= rows && box.cols <= cols && box.row <= window.rows - box.rows &&
                      box.col <= window.cols - box.cols;
  if (!inside) [[unlikely]]
    return reject_box(what, window.rows, window.cols, box, rows, cols), false;
  return !context_.verify || knows(what, window.segment, window.offset,
                                   static_cast<std::uint64_t>(window.size()) * sizeof(T));
}

template <class T>
bool Fabric::admits(const char* what, WindowRef<T> window, Rank peer, std::int64_t at,
                    std::int64_t count) {
  if (peer.value >= context_.size) [[unlikely]]
    return reject_peer(what, peer), false;
  if (at < 0 || count < 0 || at > window.size() - count) [[unlikely]] {
    return reject_run(what, window.size(), at, count), false;
  }
  return !context_.verify || knows(what, window.segment, window.offset,
                                   static_cast<std::uint64_t>(window.size()) * sizeof(T));
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_load", window, peer, box, R, C)) [[unlikely]]
    return;
  const View<T> source = address(window, peer);
  for (std::int64_t row = 0; row < R; ++row) {
    T* line = &tile.elements_[tile.index(row, 0)];
    const std::int64_t valid = row < box.rows ? box.cols : 0;
    if (valid > 0) {
      std::memcpy(line, &source[window.at(box.row + row, box.col)],
                  static_cast<std::size_t>(valid) * sizeof(T));
    }
    for (std::int64_t col = valid; col < C; ++col) line[col] = T{};
  }
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::remote_store(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box) {
  if (!admits("remote_store", window, peer, box, R, C)) [[unlikely]]
    return;
  const View<T> target = address(window, peer);
  if (box.cols == 0) return;
  for (std::int64_t row = 0; row < box.rows; ++row) {
    std::memcpy(&target[window.at(box.row + row, box.col)], &tile.elements_[tile.index(row, 0)],
                static_cast<std::size_t>(box.cols) * sizeof(T));
  }
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
  if (!admits("remote_add", window, peer, box, R, C)) [[unlikely]]
    return;
  const View<T> target = address(window, peer);
  for (std::int64_t row = 0; row < box.rows; ++row) {
    for (std::int64_t col = 0; col < box.cols; ++col) {
      detail::atomic_add(target[window.at(box.row + row, box.col + col)],
                         tile.elements_[tile.index(row, col)]);
    }
  }
}

template <class T>
void Fabric::put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                 std::int64_t from_at, std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!admits("put (target)", to, peer, to_at, count)) [[unlikely]]
    return;
  if (!admits("put (source)", from, context_.rank, from_at, count)) [[unlikely]]
    return;
  if (count == 0) return;
  T* target = &address(to, peer)[to_at];
  const T* source = &address(from, context_.rank)[from_at];
  if (target < source + count && source < target + count) [[unlikely]] {
    return reject_overlap(to_at, from_at, count);
  }
  std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
void Fabric::get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!admits("get (target)", to, context_.rank, to_at, count)) [[unlikely]]
    return;
  if (!admits("get (source)", from, peer, from_at, count)) [[unlikely]]
    return;
  if (count == 0) return;
  T* target = &address(to, context_.rank)[to_at];
  const T* source = &address(from, peer)[from_at];
  if (target < source + count && source < target + count) [[unlikely]] {
    return reject_overlap(to_at, from_at, count);
  }
  std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(T));
}

}  // namespace muster::host
