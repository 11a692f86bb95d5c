// Slots whose data is its own flag: words that are kept turned over, so that zero is the sentinel,
// and move up to 16 bytes at a time in one piece.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>

#include "muster/types.hpp"

namespace muster::gpu::detail {

// What one access moves: 4, 8 or 16 bytes.
template <int bytes>
struct alignas(bytes) SentinelUnit {
  std::uint32_t word[bytes / 4] = {};
};

template <class Word>
using SentinelAccess = cuda::atomic_ref<Word, cuda::thread_scope_system>;

// Relaxed: the data is all that it carries. Pairs with load_unit. `.b128` is one access (PTX ISA
// 8.3, from sm_70 on), where a vector of four is four.
template <int bytes>
MUSTER_FN void store_unit(SentinelUnit<bytes>* to, SentinelUnit<bytes> unit) {
  std::uint64_t half[2] = {};
  std::memcpy(half, &unit, bytes);
  if constexpr (bytes == 4) {
    SentinelAccess<std::uint32_t>(to->word[0]).store(unit.word[0], cuda::memory_order_relaxed);
  } else if constexpr (bytes == 8) {
    auto& whole = *reinterpret_cast<std::uint64_t*>(to);
    SentinelAccess<std::uint64_t>(whole).store(half[0], cuda::memory_order_relaxed);
  } else {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t.reg .b128 whole;\n\tmov.b128 whole, {%1, %2};\n\t"
        "st.relaxed.sys.b128 [%0], whole;\n\t}" ::"l"(to),
        "l"(half[0]), "l"(half[1])
        : "memory");
#else
    auto* const halves = reinterpret_cast<std::uint64_t*>(to);
    for (int i = 0; i < 2; ++i)
      SentinelAccess<std::uint64_t>(halves[i]).store(half[i], cuda::memory_order_relaxed);
#endif
  }
}

template <int bytes>
[[nodiscard]] MUSTER_FN SentinelUnit<bytes> load_unit(SentinelUnit<bytes>* from) {
  SentinelUnit<bytes> unit;
  std::uint64_t half[2] = {};
  if constexpr (bytes == 4) {
    unit.word[0] = SentinelAccess<std::uint32_t>(from->word[0]).load(cuda::memory_order_relaxed);
    return unit;
  } else if constexpr (bytes == 8) {
    auto& whole = *reinterpret_cast<std::uint64_t*>(from);
    half[0] = SentinelAccess<std::uint64_t>(whole).load(cuda::memory_order_relaxed);
  } else {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t.reg .b128 whole;\n\tld.relaxed.sys.b128 whole, [%2];\n\t"
        "mov.b128 {%0, %1}, whole;\n\t}"
        : "=l"(half[0]), "=l"(half[1])
        : "l"(from)
        : "memory");
#else
    auto* const halves = reinterpret_cast<std::uint64_t*>(from);
    for (int i = 0; i < 2; ++i)
      half[i] = SentinelAccess<std::uint64_t>(halves[i]).load(cuda::memory_order_relaxed);
#endif
  }
  std::memcpy(&unit, half, bytes);
  return unit;
}

// Has a unit of elements of T come? As it is one access, one of its elements tells of all; on a
// host it is two of eight bytes.
template <class T, int bytes>
[[nodiscard]] MUSTER_FN bool has_come(const SentinelUnit<bytes>& unit) {
  const std::uint32_t first =
      sizeof(T) == 8 ? unit.word[0] | unit.word[bytes / 4 > 1] : unit.word[0];
#if defined(__CUDA_ARCH__)
  return first != 0;
#else
  if constexpr (bytes < 16)
    return first != 0;
  else
    return first != 0 && (unit.word[2] | unit.word[3]) != 0;
#endif
}

// A word of elements of T, where it is all sentinel: of two bytes both at once, which leaves a
// lone one as it is, for a word with another beside it is none. Doubles are looked at in pairs.
template <class T, int words>
MUSTER_FN void replace_sentinel_in(std::uint32_t (&word)[words]) {
  constexpr int step = sizeof(T) == 8 ? 2 : 1;
  constexpr std::uint32_t other = sizeof(T) == 2 ? 0x7fff7fffU : 0x7fffffffU;
  for (int i = step - 1; i < words; i += step) {
    const std::uint32_t all = step == 2 ? word[i] & word[i - 1] : word[i];
    if (all == ~0U) word[i] = other;
  }
}

}  // namespace muster::gpu::detail
