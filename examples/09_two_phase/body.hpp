// Step 9: all_reduce by hand in two phases: each rank sums its own share, then all collect the
// shares. Less is moved than by the mesh: 2 (P-1)/P of the numbers and not P-1 times.
#pragma once

#include "../common/collective_step.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/reduce.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_reduce_two_phase(Team& team) {
  using namespace muster;
  const std::int64_t ranks = team.size();
  if (elements % ranks != 0)
    return Error{.code = ErrorCode::invalid_argument,
                 .what = std::to_string(elements) + " elements are not divisible by " +
                         std::to_string(ranks) + " ranks; this step needs 2, 4, 8, 16, 32 or 64"};
  const std::int64_t share = elements / ranks;
  const auto stage = *team.template window<float>({elements}, "stage");
  const auto shares = *team.template window<float>({share}, "shares");
  const auto sums = *team.template window<float>({elements}, "sums");
  const EpochBarrier shown(team);
  const EpochBarrier reduced(team);  // rows of its own: its deposits are not those of `shown`
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, stage, normal_values(fabric.rank().value));
    if (const WaitStatus met = shown.sync(fabric); met != WaitStatus::ok) return met;

    auto sum = fabric.template tile<float, 1, elements>();
    auto theirs = fabric.template tile<float, 1, elements>();
    const Box own{0, fabric.rank().value * share, 1, share};
    fabric.load(sum, stage, own);
    WaitStatus loaded = WaitStatus::ok;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      loaded = worst(loaded, fabric.remote_load(theirs, stage, right_of(fabric, step), own));
      sum.combine(theirs, Sum{});
    }
    fabric.store(sum, shares, Box{0, 0, 1, share});
    if (const WaitStatus met = reduced.sync(fabric); met != WaitStatus::ok) return met;

    for (std::uint32_t step = 0; step < fabric.size(); ++step) {
      const Rank owner = right_of(fabric, step);
      loaded = worst(loaded, fabric.remote_load(theirs, shares, owner, Box{0, 0, 1, share}));
      fabric.store(theirs, sums, Box{0, owner.value * share, 1, share});
    }
    look(fabric, sums, result);
    return fabric.converge(loaded);
  });
  if (!ran) return ran.error();
  return result;
}

}  // namespace tutorial
