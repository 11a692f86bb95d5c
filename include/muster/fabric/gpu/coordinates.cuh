// Which lane of which rank a thread of a kernel belongs to.
#pragma once

#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/types.hpp"

namespace muster::gpu {

struct LaneCoordinates {
  Rank rank;
  Lane lane;
  std::uint32_t lanes = 1;
};

namespace detail {

inline constexpr std::uint32_t uneven = ~0U;  // in place of the number of lanes

// Out of line: kernels that hold one rank do without the divisions.
[[nodiscard, gnu::noinline]] MUSTER_FN inline LaneCoordinates coordinates_among_ranks(
    std::uint32_t first_rank, std::uint32_t ranks_here) {
  const std::uint32_t lanes = blocks_in_grid() / ranks_here;
  const std::uint32_t block = block_in_grid();
  // Blocks that are left over belong to nobody: no world has so many lanes, so that all blocks of
  // the launch are refused.
  if (lanes * ranks_here != blocks_in_grid()) return {Rank{first_rank}, Lane{0}, uneven};
  return {Rank{first_rank + block / lanes}, Lane{block % lanes}, lanes};
}

}  // namespace detail

// What follows from the block: see Handle.
[[nodiscard]] MUSTER_FN inline LaneCoordinates coordinates_of_block(const Handle& handle) {
  if (handle.ranks_here > 1) [[unlikely]]
    return detail::coordinates_among_ranks(handle.first_rank, handle.ranks_here);
  return {Rank{handle.first_rank}, Lane{detail::block_in_grid()}, detail::blocks_in_grid()};
}

}  // namespace muster::gpu
