// Step 5: tiles to and from a peer's window, and adding to it.
//
// Each rank pulls a matrix from its right neighbour, pushes its own to the same neighbour, and adds
// it to a sum on rank 0. All three go tile by tile, with ragged tiles at the ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

inline constexpr std::int64_t side_rows = 5;
inline constexpr std::int64_t side_cols = 6;
inline constexpr std::int64_t tile_side = 4;

// Small whole numbers: their sums are exact, in whatever order the ranks add.
[[nodiscard]] constexpr float own_value(std::uint32_t rank, std::int64_t index) {
  return static_cast<float>(rank * 100) + static_cast<float>(index);
}

struct LoadStore {
  std::vector<float> pulled;  // the right neighbour's matrix
  std::vector<float> pushed;  // what the left neighbour has put here
  std::vector<float> sum;     // on rank 0 the sum of all, on the others zero
};

template <class Visit>
void for_each_tile(muster::WindowRef<float> window, Visit&& visit) {
  for (std::int64_t row = 0; row < window.rows; row += tile_side)
    for (std::int64_t col = 0; col < window.cols; col += tile_side)
      visit(muster::clip(window, row, col, tile_side, tile_side));
}

template <class F>
std::vector<float> copy_of(F& fabric, muster::WindowRef<float> window) {
  std::vector<float> copy;
  for (std::int64_t i = 0; i < window.size(); ++i) copy.emplace_back(fabric.local(window)[i]);
  return copy;
}

template <class Team>
muster::Result<LoadStore> remote_load_store(Team& team) {
  using namespace muster;
  const auto own = *team.template window<float>({side_rows, side_cols}, "own");
  const auto pulled = *team.template window<float>({side_rows, side_cols}, "pulled");
  const auto pushed = *team.template window<float>({side_rows, side_cols}, "pushed");
  const auto sum = *team.template window<float>({side_rows, side_cols}, "sum");
  const EpochBarrier barrier(team);
  LoadStore result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    for_each_index(fabric, own.size(), [&](std::int64_t i) {
      fabric.local(own)[i] = own_value(fabric.rank().value, i);
    });
    // The neighbour's matrix must be complete before it is read. Pushing needs no barrier before
    // it: nobody else touches the places that are written.
    if (const WaitStatus met = barrier.sync(fabric); met != WaitStatus::ok) return met;

    const Rank right = right_of(fabric);
    auto tile = fabric.template tile<float, tile_side, tile_side>();
    WaitStatus loaded = WaitStatus::ok;
    for_each_tile(own, [&](Box box) {
      loaded = worst(loaded, fabric.remote_load(tile, own, right, box));
      fabric.store(tile, pulled, box);

      fabric.load(tile, own, box);
      fabric.remote_store(tile, pushed, right, box);
      // Each element is added atomically: all ranks may do so at once. Whoever reads the sum, or
      // stores to it, must be ordered with them: here by the barrier.
      fabric.remote_add(tile, sum, Rank{0}, box);
    });

    // Everything that was pushed and added is visible to its owner behind this barrier. A barrier's
    // deposits go to peers: what a rank has added to itself needs the flush.
    loaded = fabric.converge(worst(loaded, fabric.flush()));
    if (loaded != WaitStatus::ok) return loaded;
    const WaitStatus met = barrier.sync(fabric);
    if (met != WaitStatus::ok) return met;
    if (fabric.thread() == 0)
      result = {copy_of(fabric, pulled), copy_of(fabric, pushed), copy_of(fabric, sum)};
    return met;
  });
  if (!ran) return ran.error();
  return result;
}

inline muster::Result<void> check_matrix(const std::string& name, const std::vector<float>& seen,
                                         const std::vector<float>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (seen.at(i) != expected[i])
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "element " + std::to_string(i) + " of " + name + " is " +
                                   std::to_string(seen[i]) + ", expected " +
                                   std::to_string(expected[i])};
  }
  return {};
}

inline muster::Result<void> check_load_store(const LoadStore& result, std::uint32_t rank,
                                             std::uint32_t ranks) {
  std::vector<float> right;
  std::vector<float> left;
  std::vector<float> sum;
  for (std::int64_t i = 0; i < side_rows * side_cols; ++i) {
    right.push_back(own_value((rank + 1) % ranks, i));
    left.push_back(own_value((rank + ranks - 1) % ranks, i));
    float all = 0;
    for (std::uint32_t other = 0; other < ranks && rank == 0; ++other) all += own_value(other, i);
    sum.push_back(all);
  }
  if (auto wrong = check_matrix("what was pulled", result.pulled, right); !wrong) return wrong;
  if (auto wrong = check_matrix("what was pushed", result.pushed, left); !wrong) return wrong;
  return check_matrix("the sum", result.sum, sum);
}

}  // namespace tutorial
