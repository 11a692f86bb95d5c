// What a lane of the network fabric is made from. Included by muster/fabric/ucx.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/types.hpp"

namespace muster::ucx {

// Bytes from one cell of a rank to the next: no two share a cache line.
inline constexpr std::size_t cell_stride = 64;

// What a symmetric address can name: a segment and a team have a number below these. Numbers are of
// the own process: another rank of the team may know the same segment by another one.
inline constexpr std::uint32_t max_segments = 1024;
inline constexpr std::uint32_t max_teams = 1024;

// The own rank's part of a segment.
struct Segment {
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;  // 0: there is no such segment
  std::uint32_t team = 0;   // whose it is
  bool cells = false;       // signals and counters; else windows
};

// A place in the memory that every rank of a team has alike.
struct Place {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;  // bytes from the segment's begin
};

// What remote_add adds. Integers wrap, so that their sign does not matter.
enum class Number : std::uint8_t { word8, word16, word32, word64, float32, float64, half, brain };

// Rows of bytes in plain memory, and how far apart they are there and in the window.
struct Strides {
  std::int64_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t memory_stride = 0;  // bytes
  std::size_t window_stride = 0;  // bytes
};

class Wire;  // the network as one lane sees it

// Filled in by the lane's team.
struct LaneContext {
  Rank rank;
  std::uint32_t size = 1;
  Lane lane;
  std::uint32_t lanes = 1;
  const Segment* segments = nullptr;  // max_segments of them
  const bool* teams = nullptr;        // max_teams: may the lane use that team's windows?
  Wire* wire = nullptr;
};

}  // namespace muster::ucx
