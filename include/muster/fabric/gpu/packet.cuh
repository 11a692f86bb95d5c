// Packets: four bytes of data with the flag of their message beside them.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "muster/types.hpp"

namespace muster::gpu::detail {

// The flag is the upper half, so that both are written and read in one piece.
using Packet = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;
inline constexpr std::int64_t packets_in_line = 8;

[[nodiscard]] MUSTER_FN constexpr std::uint64_t packet_with(std::uint32_t flag,
                                                            std::uint32_t word) {
  return std::uint64_t{flag} << 32U | word;
}

// Two packets at a multiple of 16 bytes, by one instruction. It promises no more than two would:
// each packet is whole, and either may be seen first.
MUSTER_FN inline void store_pair(std::uint64_t* to, std::uint64_t first, std::uint64_t second) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second)
               : "memory");
#else
  Packet(to[0]).store(first, cuda::memory_order_relaxed);
  Packet(to[1]).store(second, cuda::memory_order_relaxed);
#endif
}
MUSTER_FN inline void load_pair(std::uint64_t* from, std::uint64_t& first, std::uint64_t& second) {
#if defined(__CUDA_ARCH__)
  asm volatile("ld.relaxed.sys.v2.b64 {%0, %1}, [%2];"
               : "=l"(first), "=l"(second)
               : "l"(from)
               : "memory");
#else
  first = Packet(from[0]).load(cuda::memory_order_relaxed);
  second = Packet(from[1]).load(cuda::memory_order_relaxed);
#endif
}

// One or two words in packets. Relaxed: the flag travels with the word. Pairs with load_packets.
template <int count>
MUSTER_FN void store_packets(std::uint64_t* to, const std::uint32_t* words, std::uint32_t flag) {
  if constexpr (count == 2)
    store_pair(to, packet_with(flag, words[0]), packet_with(flag, words[1]));
  else
    Packet(*to).store(packet_with(flag, words[0]), cuda::memory_order_relaxed);
}

// 0 where all have the flag: then their words mean something.
template <int count>
[[nodiscard]] MUSTER_FN std::uint32_t load_packets(std::uint64_t* from, std::uint32_t* words,
                                                   std::uint32_t flag) {
  std::uint64_t packet[count];
  if constexpr (count == 2)
    load_pair(from, packet[0], packet[1]);
  else
    packet[0] = Packet(*from).load(cuda::memory_order_relaxed);
  std::uint32_t other = 0;
  for (int i = 0; i < count; ++i) {
    words[i] = static_cast<std::uint32_t>(packet[i]);
    other |= static_cast<std::uint32_t>(packet[i] >> 32U) ^ flag;
  }
  return other;
}

}  // namespace muster::gpu::detail
