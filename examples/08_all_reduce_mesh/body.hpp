// Step 8: all_reduce by hand, the mesh: everybody reads everything.
//
// Each rank shows its numbers, all meet, and each sums over all.
#pragma once

#include "../common/collective_step.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/reduce.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_reduce_mesh(Team& team) {
  using namespace muster;
  const auto stage = *team.template window<float>({elements}, "stage");
  const auto sums = *team.template window<float>({elements}, "sums");
  const EpochBarrier barrier(team);
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, stage, normal_values(fabric.rank().value));
    // Without this meeting a fast rank would sum what a slow one has not shown yet.
    if (const WaitStatus met = barrier.sync(fabric); met != WaitStatus::ok) return met;

    const Box all{0, 0, 1, elements};
    auto sum = fabric.template tile<float, 1, elements>();
    auto theirs = fabric.template tile<float, 1, elements>();
    fabric.load(sum, stage, all);  // the own first, then round the ring
    WaitStatus loaded = WaitStatus::ok;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      loaded = worst(loaded, fabric.remote_load(theirs, stage, right_of(fabric, step), all));
      sum.combine(theirs, Sum{});
    }
    fabric.store(sum, sums, all);
    look(fabric, sums, result);
    return fabric.converge(loaded);
  });
  if (!ran) return ran.error();
  return result;
}

}  // namespace tutorial
