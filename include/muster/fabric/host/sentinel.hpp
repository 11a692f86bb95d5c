// The host fabric's slots whose data is its own flag. Included by muster/fabric/host.hpp.
//
// A tile's bytes in words of eight, each kept turned over and written in one piece: a word that is
// zero holds sentinels and nothing else, any other has come as a whole. They are released and
// acquired, for what was done before a run of a lane began goes with them, and such a run begins
// without a fence.
#pragma once

#include <cstring>

#include "muster/fabric/host.hpp"

namespace muster::host {

namespace detail {
using SentinelWord = std::atomic_ref<std::uint64_t>;
inline constexpr std::size_t sentinel_word = sizeof(std::uint64_t);

// How many bytes of a tile of `bytes` are in its word `at`: the last may be a short one.
[[nodiscard]] constexpr std::size_t bytes_in_word(std::size_t bytes, std::size_t at) {
  const std::size_t left = bytes - at * sentinel_word;
  return left < sentinel_word ? left : sentinel_word;
}

template <class T, std::int64_t R, std::int64_t C>
struct SentinelShape {
  static constexpr std::size_t bytes = sizeof(T) * static_cast<std::size_t>(R * C);
  static constexpr std::size_t words = (bytes + sentinel_word - 1) / sentinel_word;
  static constexpr std::int64_t lines = sentinel_lines<T>(R, C);
  static_assert(words * sentinel_word <= static_cast<std::size_t>(lines) * sizeof(SentinelLine));
};
}  // namespace detail

template <HasSentinel T, std::int64_t R, std::int64_t C>
inline void Fabric::replace_sentinel(Tile<T, R, C>& tile) {
  for (std::int64_t i = 0; i < tile.filled_; ++i) {
    T& element = tile.elements_[static_cast<std::size_t>(i)];
    element = without_sentinel(element);
  }
}

template <HasSentinel T, std::int64_t R, std::int64_t C>
inline void Fabric::put_sentinel(SentinelSlots slots, Rank peer, std::int64_t at,
                                 const Tile<T, R, C>& tile) {
  using Shape = detail::SentinelShape<T, R, C>;
  if (peer.value >= context_.size || !fits_at_once(slots, at, Shape::lines)) [[unlikely]] {
    if (!admits("put_sentinel", slots, peer, at, Shape::lines) || silenced(peer)) return;
  }
  tile.fill();
  auto* const to = reinterpret_cast<std::uint64_t*>(memory_of(slots, peer) + at);
  const auto* const from = reinterpret_cast<const std::byte*>(tile.elements_.get());
  for (std::size_t i = 0; i < Shape::words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + i * detail::sentinel_word, detail::bytes_in_word(Shape::bytes, i));
    // Pairs with the load in wait_sentinel.
    detail::SentinelWord(to[i]).store(~word, std::memory_order_release);
  }
}

template <HasSentinel T, std::int64_t R, std::int64_t C>
inline WaitStatus Fabric::wait_sentinel(Tile<T, R, C>& tile, SentinelSlots slots, std::int64_t at) {
  using Shape = detail::SentinelShape<T, R, C>;
  if (!fits_at_once(slots, at, Shape::lines)) [[unlikely]] {
    if (!admits("wait_sentinel", slots, context_.rank, at, Shape::lines))
      return WaitStatus::invalid;
    if (context_.verify && ending() != WaitStatus::ok) return ending();
  }
  auto* const from = reinterpret_cast<std::uint64_t*>(memory_of(slots, context_.rank) + at);
  auto* const to = reinterpret_cast<std::byte*>(tile.elements_.get());
  for (std::size_t i = 0; i < Shape::words; ++i) {
    std::uint64_t word = 0;
    const bool seen = spin([&] {
      word = detail::SentinelWord(from[i]).load(std::memory_order_acquire);
      return word != 0;
    });
    if (!seen) {
      const auto line = at + static_cast<std::int64_t>(i * detail::sentinel_word / 64);
      const WaitStatus status = wait_for_word(from[i], line);
      if (status != WaitStatus::ok) return status;
      word = detail::SentinelWord(from[i]).load(std::memory_order_acquire);
    }
    word = ~word;
    std::memcpy(to + i * detail::sentinel_word, &word, detail::bytes_in_word(Shape::bytes, i));
  }
  tile.filled_ = R * C;
  detail::complete_loads();  // what it reads is part of the wait
  return WaitStatus::ok;
}

template <HasSentinel T, std::int64_t R, std::int64_t C>
inline void Fabric::clear_sentinel(SentinelSlots slots, std::int64_t at,
                                   const Tile<T, R, C>& /*tile*/) {
  using Shape = detail::SentinelShape<T, R, C>;
  if (!fits_at_once(slots, at, Shape::lines)) [[unlikely]] {
    if (!admits("clear_sentinel", slots, context_.rank, at, Shape::lines)) return;
  }
  auto* const words = reinterpret_cast<std::uint64_t*>(memory_of(slots, context_.rank) + at);
  // Relaxed: a later run of the lane releases it with what it puts.
  for (std::size_t i = 0; i < Shape::words; ++i)
    detail::SentinelWord(words[i]).store(0, std::memory_order_relaxed);
}

}  // namespace muster::host
