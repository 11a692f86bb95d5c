// Copying a run of bytes by all threads of a lane, in units as wide as both ends allow.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "muster/fabric/gpu/access.cuh"
#include "muster/types.hpp"

namespace muster::gpu::detail {

// What one instruction moves, of 1 to 16 bytes.
template <std::size_t bytes>
using Unit = std::conditional_t<
    bytes == 16, uint4,
    std::conditional_t<
        bytes == 8, uint2,
        std::conditional_t<bytes == 4, std::uint32_t,
                           std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>>;

// One instruction: a unit that has been computed in registers, the compiler may take apart into a
// store for each element.
template <class Unit>
MUSTER_FN void store_unit(Unit* to, const Unit& unit) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Unit, uint4>) {
    asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(unit.x), "r"(unit.y),
                 "r"(unit.z), "r"(unit.w)
                 : "memory");
    return;
  }
#endif
  *to = unit;
}

// Neighbouring threads copy neighbouring units; each has up to eight loads in flight, which covers
// the latency of a peer's memory.
template <std::size_t bytes>
MUSTER_FN void copy_units(std::byte* to, const std::byte* from, std::int64_t units,
                          std::uint32_t thread, std::uint32_t threads) {
  constexpr int in_flight = 8;
  auto* const target = reinterpret_cast<Unit<bytes>*>(to);
  const auto* const source = reinterpret_cast<const Unit<bytes>*>(from);
  std::int64_t at = thread;
  for (; at + (in_flight - 1) * std::int64_t{threads} < units;
       at += in_flight * std::int64_t{threads}) {
    Unit<bytes> unit[in_flight];
    repeat<in_flight>([&](int i) { unit[i] = source[at + i * std::int64_t{threads}]; });
    repeat<in_flight>([&](int i) { target[at + i * std::int64_t{threads}] = unit[i]; });
  }
  for (; at < units; at += threads) target[at] = source[at];
}

// The bytes before the first unit boundary, the units, and the bytes after the last.
template <std::size_t bytes>
MUSTER_FN void copy_aligned(std::byte* to, const std::byte* from, std::int64_t count,
                            std::uint32_t thread, std::uint32_t threads) {
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % bytes);
  std::int64_t head = misaligned == 0 ? 0 : std::int64_t{bytes} - misaligned;
  if (head > count) head = count;
  const std::int64_t units = (count - head) / std::int64_t{bytes};
  const std::int64_t body_end = head + units * std::int64_t{bytes};
  for (std::int64_t at = thread; at < head; at += threads) to[at] = from[at];
  copy_units<bytes>(to + head, from + head, units, thread, threads);
  for (std::int64_t at = body_end + thread; at < count; at += threads) to[at] = from[at];
}

// `count` bytes from `from` to `to`, which do not overlap. Called by all threads of the lane; each
// copies its share, nobody waits.
MUSTER_FN inline void copy_run(std::byte* to, const std::byte* from, std::int64_t count,
                               std::uint32_t thread, std::uint32_t threads) {
  const auto apart =
      (reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from)) % 16;
  if (apart == 0) return copy_aligned<16>(to, from, count, thread, threads);
  if (apart % 8 == 0) return copy_aligned<8>(to, from, count, thread, threads);
  if (apart % 4 == 0) return copy_aligned<4>(to, from, count, thread, threads);
  if (apart % 2 == 0) return copy_aligned<2>(to, from, count, thread, threads);
  copy_aligned<1>(to, from, count, thread, threads);
}

}  // namespace muster::gpu::detail
