// Step 14: reduce_scatter. By hand: all show all their numbers, meet, and each sums its own part.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/collective/reduce_scatter.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> reduce_scatter_step(Team& team, const std::string& mode) {
  using namespace muster;
  const std::int64_t ranks = team.size();
  const auto x = *team.template window<float>({ranks * elements}, "x");
  const auto y = *team.template window<float>({elements}, "y");
  const EpochBarrier barrier(team);
  const ReduceScatter<float, elements> builtin(team, {.chunk = ranks * elements});
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, x, counting_values(fabric.rank().value, ranks * elements));
    WaitStatus status = WaitStatus::ok;
    if (mode == "builtin") {
      status = builtin.run(fabric, y, x, elements);
    } else {
      status = barrier.sync(fabric);
      if (status != WaitStatus::ok) return status;
      const Box part{0, fabric.rank().value * elements, 1, elements};
      auto sum = fabric.template tile<float, 1, elements>();
      auto theirs = fabric.template tile<float, 1, elements>();
      fabric.load(sum, x, part);  // the own chunk is one of them
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        status = worst(status, fabric.remote_load(theirs, x, right_of(fabric, step), part));
        sum.combine(theirs, Sum{});
      }
      fabric.store(sum, y, Box{0, 0, 1, elements});
      status = fabric.converge(status);
    }
    if (status == WaitStatus::ok) look(fabric, y, result);
    return status;
  });
  if (!ran) return ran.error();
  return result;
}

// y[r][j] = P (64 r + j) + 50 P (P-1)
[[nodiscard]] inline Values reduce_scatter_golden(std::uint32_t rank, std::uint32_t ranks) {
  Values values;
  for (std::int64_t j = 0; j < elements; ++j)
    values.push_back(
        static_cast<float>(ranks * (elements * rank + j) + std::int64_t{50} * ranks * (ranks - 1)));
  return values;
}

}  // namespace tutorial
