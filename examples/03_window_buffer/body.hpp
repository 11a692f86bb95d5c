// Step 3: a window, two ways to make one, and tiles with a ragged tail to move it.
//
// Each rank doubles the matrix of its right neighbour: tile by tile it loads from the neighbour's
// window, computes in the tile, and stores into its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

// 7 x 10 elements through 4 x 4 tiles: neither extent is a multiple, so the last tiles are ragged.
inline constexpr std::int64_t matrix_rows = 7;
inline constexpr std::int64_t matrix_cols = 10;
inline constexpr std::int64_t tile_edge = 4;

[[nodiscard]] constexpr float input_of(std::uint32_t rank, std::int64_t index) {
  return static_cast<float>(rank * 1000) + static_cast<float>(index);
}

// Returns the own output, row-major.
template <class Team>
muster::Result<std::vector<float>> window_buffer(Team& team) {
  using namespace muster;

  // Extents are elements, and T says how large one is: there is no size in bytes to get wrong.
  const auto input = *team.template window<float>({matrix_rows, matrix_cols}, "input");

  // Or allocate bytes first, and look at them through windows: for memory that serves several uses.
  auto buffer = *team.allocate(matrix_rows * matrix_cols * sizeof(float));
  const auto output = *team.template window<float>(buffer, {matrix_rows, matrix_cols});

  const EpochBarrier barrier(team);
  const EpochBarrier leaving(team);  // of its own, since it carries no data
  std::vector<float> result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    // The threads of the lane share the loop; on a host that is one thread.
    for_each_index(fabric, input.size(), [&](std::int64_t i) {
      fabric.local(input)[i] = input_of(fabric.rank().value, i);
    });
    if (const WaitStatus met = barrier.sync(fabric); met != WaitStatus::ok) return met;

    const Rank right = right_of(fabric);
    // The lane's working set: registers on a GPU, a buffer on a host. The fabric provides it.
    auto tile = fabric.template tile<float, tile_edge, tile_edge>();
    WaitStatus loaded = WaitStatus::ok;
    for (std::int64_t row = 0; row < matrix_rows; row += tile_edge) {
      for (std::int64_t col = 0; col < matrix_cols; col += tile_edge) {
        const Box box = clip(input, row, col, tile_edge, tile_edge);  // the part that exists
        loaded = worst(loaded, fabric.remote_load(tile, input, right, box));
        tile.each([](std::int64_t, std::int64_t, float& element) { element *= 2.0F; });
        fabric.store(tile, output, box);
      }
    }
    // The neighbour must not change or free its window while it is still being read.
    loaded = fabric.converge(loaded);
    const WaitStatus left = worst(loaded, leaving.sync(fabric, use::exit));
    for (std::int64_t i = 0; i < output.size() && fabric.thread() == 0; ++i)
      result.emplace_back(fabric.local(output)[i]);
    return left;
  });
  if (!ran) return ran.error();
  return result;
}

inline muster::Result<void> check_window(const std::vector<float>& output, std::uint32_t rank,
                                         std::uint32_t ranks) {
  for (std::int64_t i = 0; i < matrix_rows * matrix_cols; ++i) {
    const float seen = output.at(static_cast<std::size_t>(i));
    const float expected = 2.0F * input_of((rank + 1) % ranks, i);
    if (seen != expected)
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "element " + std::to_string(i) + " is " + std::to_string(seen) +
                                   ", expected " + std::to_string(expected)};
  }
  return {};
}

}  // namespace tutorial
