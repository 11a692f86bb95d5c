// Numbers that have a pattern of bits to spare, and the memory in which it says that nothing has
// come yet. Included by muster/fabric.hpp; the operations are those of SentinelFabric.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "muster/half.hpp"
#include "muster/types.hpp"

namespace muster {

// All bits set is the sentinel. In these types it is one NaN among many, so that it can be sent as
// another one. Integers have no number to spare: they take packets.
template <class T>
concept HasSentinel = std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, float16> || std::same_as<T, bfloat16>;

namespace detail {
template <class T>
using SentinelBits =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
}  // namespace detail

template <HasSentinel T>
[[nodiscard]] MUSTER_FN constexpr bool is_sentinel(T value) {
  using Bits = detail::SentinelBits<T>;
  return __builtin_bit_cast(Bits, value) == static_cast<Bits>(~Bits{0});
}

// What is sent in its place: the NaN with all bits set but the sign (0x7fff, 0x7fffffff, ...).
// Every other number stays as it is.
template <HasSentinel T>
[[nodiscard]] MUSTER_FN constexpr T without_sentinel(T value) {
  using Bits = detail::SentinelBits<T>;
  constexpr auto all = static_cast<Bits>(~Bits{0});  // of 16 bits: ~ gives an int
  return is_sentinel(value) ? __builtin_bit_cast(T, static_cast<Bits>(all >> 1U)) : value;
}

// 64 bytes of the memory that such tiles travel in. What lies where in it belongs to the fabric,
// which keeps each word there with its bits turned over: so memory that is zero, as all is at
// first, holds nothing but sentinels, and nobody need write any before a peer can reach it.
struct alignas(64) SentinelLine {
  std::uint32_t word[16] = {};
};

// A window of lines: `team.window<SentinelLine>({lines})`. Only put_sentinel, wait_sentinel and
// clear_sentinel touch it.
using SentinelSlots = WindowRef<SentinelLine>;

// How many lines a tile of rows x cols elements takes on any fabric. Elements of two bytes travel
// in pairs; where a row has an odd number of them, each by itself in a word.
template <HasSentinel T>
[[nodiscard]] MUSTER_FN constexpr std::int64_t sentinel_lines(std::int64_t rows,
                                                              std::int64_t cols) {
  const auto bytes = static_cast<std::int64_t>(cols % 2 != 0 && sizeof(T) < 4 ? 4 : sizeof(T));
  return (rows * cols * bytes + 63) / 64;
}

}  // namespace muster
