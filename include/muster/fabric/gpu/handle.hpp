// What a kernel is given to take part in a team: plain bytes, filled on the host. Needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/types.hpp"

namespace muster::gpu {

// The base addresses of larger teams lie in device memory, those of smaller ones in the handle
// itself, where a kernel reads them from its constant bank.
inline constexpr std::uint32_t near_ranks = 8;

// How large the teams are that a kernel is compiled for: at most near_ranks, or any. A kernel for
// few that is given a larger team ends at once and reports it.
enum class Ranks { few, many };

// Do kernels have the checks of their arguments in them, so that a world can ask for them? As with
// assert, they do where they are compiled for debugging; -DMUSTER_VERIFY=1 and =0 overrule that.
// A barrier of its own kernel takes a tenth longer with checks in it that are off (two H200, by
// hand).
#if defined(MUSTER_VERIFY)
inline constexpr bool checks_compiled = MUSTER_VERIFY != 0;
#elif defined(NDEBUG)
inline constexpr bool checks_compiled = false;
#else
inline constexpr bool checks_compiled = true;
#endif

inline constexpr std::uint32_t max_segments = 8;
inline constexpr std::uint32_t cell_bytes = 4;  // from one signal or counter to the next
inline constexpr std::uint32_t unknown = ~0U;   // of a record's field

// Memory that every rank has alike. A signal or a counter is a cell of 4 bytes from its base, a
// window an offset in bytes. The bases are what THIS process maps: they differ between processes.
struct Segment {
  std::byte* near[near_ranks] = {};  // by rank, where the team has at most near_ranks
  std::byte* const* far = nullptr;   // by rank, in device memory, for a larger team
  std::uint64_t bytes = 0;           // the extent on each rank

  [[nodiscard]] MUSTER_FN std::byte* base(std::uint32_t owner, std::uint32_t ranks) const {
    if (ranks <= near_ranks) return near[owner];
    // Volatile only so that the compiler does not merge it with the load above: that one reads the
    // constant bank, as long as it is one of its own.
    return const_cast<std::byte* const volatile*>(far)[owner];
  }
};

// What a lane was doing when it failed.
enum class Operation : std::uint32_t {
  none,
  launch,
  team,
  notify,
  wait,
  wait_any,
  hand,
  take,
  counter,
  window,
  tile,
  transfer,
  packets,
  fetch
};

// What was wrong with it, and which numbers the record holds.
enum class Cause : std::uint32_t {
  none,
  lanes,        // more run than rows were made for: lanes
  grid,         // blocks that cannot be dealt out evenly to the ranks: blocks, ranks of the launch
  coordinates,  // no such rank or lane: rank, lane, lanes
  threads,  // the block has not the lane's: its first, how many, the block's, the caller, barrier
  ranks,    // a kernel for few
  too_few,  // for a tile: the lane's threads, the least
  rank,     // no such peer
  cell,     // none such: the segment's cells
  team,     // a window of another team: its team
  segment,  // a window in no memory of the team: offset, elements, their bytes; where windows lie
  box,      // outside of the window: row, col, rows, cols; the window's rows, cols
  overlap,  // of a transfer's two ends: the target's first element, the source's, how many
};

// The first failure of a rank, written by a kernel into host memory. Fields that are not known are
// `unknown`.
struct ErrorRecord {
  std::uint32_t complete;  // 1, written last, by a release store: pairs with the host's acquire
  std::uint32_t status;    // a WaitStatus
  std::uint32_t operation;
  std::uint32_t rank;
  std::uint32_t lane;
  std::uint32_t block;   // the block's number in its grid, x fastest
  std::uint32_t thread;  // in the lane
  std::uint32_t peer;
  std::uint32_t segment;
  std::uint32_t cell;
  std::uint32_t seen;
  std::uint32_t compare;  // a Compare
  std::uint32_t expected;
  std::uint32_t cause;
  std::uint64_t at;        // %globaltimer, ns: the earliest record of a team is the cause
  std::int64_t number[6];  // see Cause
};

// A kernel takes it as `const __grid_constant__ muster::gpu::Handle handle`: without the qualifier
// each thread would copy it to local memory.
//
// A grid holds ranks_here x lanes blocks: block b runs lane b % lanes of rank first_rank + b /
// lanes. The number of lanes follows from the launch.
struct Handle {
  // First what every kernel begins with: a constant bank is fetched by lines.
  std::uint32_t ranks = 0;
  std::uint32_t first_rank = 0;
  std::uint32_t ranks_here = 1;  // ranks that share the launch
  std::uint32_t max_lanes = 0;   // rows were made for so many; a kernel of more ends at once
  std::uint32_t team = 0;
  std::uint8_t verify = 0;    // 1: arguments are checked, in kernels that can
  std::uint8_t retries = 0;   // 1: an expired wait does not fail the team
  std::uint8_t notes = 0;     // 1: a barrier may have noted that it must not be called again
  std::uint32_t zero = 0;     // always 0, unknown to the compiler (see Fabric::converge)
  std::uint32_t threads = 0;  // of a block, where the launch has said so; else 0
  Segment segments[max_segments];
  std::uint64_t deadline_ns = 0;    // 0: waits have none
  std::uint32_t* stop = nullptr;    // in host memory: 0, or the WaitStatus that ends every wait
  std::uint32_t* claims = nullptr;  // device memory, by rank: 0 until the rank's record is taken
  ErrorRecord* records = nullptr;   // host memory, by rank
  std::uint64_t cells_end = 0;      // in segment 0, bytes of cells before the windows; 0: they mix
};

}  // namespace muster::gpu
