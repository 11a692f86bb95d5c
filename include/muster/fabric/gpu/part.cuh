// Which warps a part of a block is, and where they meet. Included by muster/fabric/gpu/fabric.cuh.
#pragma once

#include <cstdint>

#include "muster/fabric/gpu/coop.cuh"
#include "muster/types.hpp"

namespace muster::gpu::detail {

template <class Coop>
inline constexpr bool is_block = false;
template <std::uint32_t count>
inline constexpr bool is_block<Block<count>> = true;

// The warps of a muster::Warps or muster::Threads, and how many of what a part counts are a warp.
template <class P>
struct PartWarps;
template <std::uint32_t n>
struct PartWarps<muster::Warps<n>> {
  static constexpr std::uint32_t warps = n;
  static constexpr std::uint32_t in_warp = 1;
};
template <std::uint32_t n>
struct PartWarps<muster::Threads<n>> {
  static_assert(n % warp_threads == 0, "a part of a block is whole warps: 32 threads each");
  static constexpr std::uint32_t warps = n / warp_threads;
  static constexpr std::uint32_t in_warp = warp_threads;
};

template <class P>
using PartCoop = Warps<PartWarps<P>::warps>;

// Two parts of two warps or more that have none in common begin at least two warps apart, so that
// each has a barrier of its own: 1 + first_warp / 2. A block of 1024 threads in 16 such parts has
// one barrier too few, as the block's own is the 16th: the part from warp 30 on is refused, and so
// is one that begins within a warp.
template <class P>
[[nodiscard]] MUSTER_FN constexpr PartCoop<P> coop_of_part(std::uint32_t first) {
  constexpr std::uint32_t in_warp = PartWarps<P>::in_warp;
  const std::uint32_t first_warp = first / in_warp;
  return {first_warp, first % in_warp == 0 ? 1 + first_warp / 2 : named_barriers};
}

}  // namespace muster::gpu::detail
