// Step 13: all_gather. By hand: everybody pushes its row to everybody, then all meet.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/collective/all_gather.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_gather_step(Team& team, const std::string& mode) {
  using namespace muster;
  const std::int64_t ranks = team.size();
  const auto x = *team.template window<float>({elements}, "x");
  const auto y = *team.template window<float>({ranks * elements}, "y");
  const EpochBarrier barrier(team);
  const AllGather<float, elements> builtin(team, {.chunk = elements});
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, x, counting_values(fabric.rank().value));
    WaitStatus status = WaitStatus::ok;
    if (mode == "builtin") {
      status = builtin.run(fabric, y, x, elements);
    } else {
      // Into slot r of everybody, the own one too. A second call would need a meeting before it: a
      // fast rank's push could meet a reader of the first.
      auto tile = fabric.template tile<float, 1, elements>();
      fabric.load(tile, x, Box{0, 0, 1, elements});
      const Box slot{0, fabric.rank().value * elements, 1, elements};
      for (std::uint32_t step = 0; step < fabric.size(); ++step)
        fabric.remote_store(tile, y, right_of(fabric, step), slot);
      status = barrier.sync(fabric);
    }
    if (status == WaitStatus::ok) look(fabric, y, result);
    return status;
  });
  if (!ran) return ran.error();
  return result;
}

// x[0] x[1] ... in rank order.
[[nodiscard]] inline Values all_gather_golden(std::uint32_t /*rank*/, std::uint32_t ranks) {
  Values all;
  for (std::uint32_t row = 0; row < ranks; ++row) {
    const Values values = counting_values(row);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace tutorial
