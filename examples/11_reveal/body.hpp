// Step 11: what the last three steps did by hand is one object: AllReduce.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/collective/all_reduce.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_reduce_reveal(Team& team, const std::string& mode) {
  using namespace muster;
  const auto numbers = *team.template window<float>({elements}, "numbers");
  const AllReduce<float, elements> sum(
      team,
      {.algorithm = mode == "ring" ? Algorithm::ring : Algorithm::one_shot, .chunk = elements});
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, numbers, normal_values(fabric.rank().value));
    // In place. It may be called again at once: staging and counters are the object's care.
    const WaitStatus done = sum.run(fabric, numbers, numbers, elements);
    if (done == WaitStatus::ok) look(fabric, numbers, result);
    return done;
  });
  if (!ran) return ran.error();
  return result;
}

}  // namespace tutorial
