// What a lane of the host fabric is made from. Included by muster/fabric/host.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "muster/types.hpp"

namespace muster::host {

// Bytes from one cell of a rank to the next: those of one rank never share a cache line. Copies of
// a cell on several ranks may (JobHeader::ranks_in_line).
inline constexpr std::size_t cell_stride = 64;

// What a symmetric address can name: a segment and a team have a number below these.
inline constexpr std::uint32_t max_segments = 64;
inline constexpr std::uint32_t max_teams = 1024;

// The base addresses of one segment in the memory of each rank of a team, by team rank. Cells lie
// in segment 0 alone.
struct Segment {
  std::byte* const* cells = nullptr;
  std::byte* const* memory = nullptr;
  std::uint64_t bytes = 0;  // of each rank's memory; 0: there is no such segment
};

class LaneWatch;  // the slow side of a lane: sleeping, deadlines, lost peers, errors

// Is a lane in a call, and since when has that been slow? No clock is read before it is.
class CallClock {
 public:
  // Waits between the two share one deadline: see OneCall.
  bool begin_call() {
    const bool inner = since_ns_ != no_call;
    if (!inner) since_ns_ = not_slow;
    return inner;
  }
  void end_call(bool inner) {
    if (!inner) since_ns_ = no_call;
  }

  // A wait turns slow at `now_ns`, of the steady clock: since when has its call been?
  [[nodiscard]] std::int64_t turn_slow(std::int64_t now_ns) {
    if (since_ns_ == not_slow) since_ns_ = now_ns;
    return since_ns_ == no_call ? now_ns : since_ns_;
  }

 private:
  static constexpr std::int64_t no_call = 0;
  static constexpr std::int64_t not_slow = 1;
  std::int64_t since_ns_ = no_call;  // or one of these
};

// What a lane is made from; filled in by its team.
struct LaneContext {
  Rank rank;
  std::uint32_t size = 1;
  Lane lane;
  std::uint32_t lanes = 1;
  std::uint32_t spins = 0;  // polls before the first yield; few where lanes outnumber the cores
  bool verify = false;      // look up cells and windows, and whether the lane has ended, each time
  const Segment* segments = nullptr;  // max_segments of them
  std::uint64_t cells = 0;            // that each rank has
  // By number, max_teams of them: may the lane use that team's windows?
  const bool* teams = nullptr;
  // By team rank: not 0 where lanes sleep on cells in that rank's memory, or somebody watches them.
  std::atomic<std::uint32_t>* const* sleepers = nullptr;
  LaneWatch* watch = nullptr;
};

}  // namespace muster::host
