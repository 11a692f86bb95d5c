// Step 16: collectives behind each other: broadcast w, all_reduce x, all_gather x, multiply.
//
// Each object owns its memory and its cells, so nothing stands between the calls.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/collective.hpp"

namespace tutorial {

// The sums, and behind them the P rows of 64, each times w.
template <class Team>
muster::Result<Values> composition_step(Team& team, const std::string& mode) {
  using namespace muster;
  const std::int64_t ranks = team.size();
  const auto w = *team.template window<float>({elements}, "w");
  const auto x = *team.template window<float>({elements}, "x");
  const auto weights = *team.template window<float>({elements}, "weights");
  const auto sums = *team.template window<float>({elements}, "sums");
  const auto gathered = *team.template window<float>({ranks * elements}, "gathered");
  const EpochBarrier shown(team);
  const Broadcast<float, elements> broadcast(team, {.chunk = elements});
  const AllReduce<float, elements> all_reduce(
      team, {.algorithm = Algorithm::one_shot, .chunk = elements});
  const AllGather<float, elements> all_gather(team, {.chunk = elements});
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    Values own_weights;
    for (std::int64_t j = 0; j < elements; ++j)
      own_weights.push_back(fabric.rank() == Rank{0} ? static_cast<float>(1 + j) : -1);
    fill(fabric, w, own_weights);
    fill(fabric, x, counting_values(fabric.rank().value));
    WaitStatus status = WaitStatus::ok;
    if (mode == "builtin") {
      status = broadcast.run(fabric, weights, w, elements, Rank{0});
      if (status == WaitStatus::ok) status = all_reduce.run(fabric, sums, x, elements);
      if (status == WaitStatus::ok) status = all_gather.run(fabric, gathered, x, elements);
    } else {
      // One meeting serves all three: each only reads what was shown before it.
      status = shown.sync(fabric);
      if (status != WaitStatus::ok) return status;
      const Box all{0, 0, 1, elements};
      auto tile = fabric.template tile<float, 1, elements>();
      auto sum = fabric.template tile<float, 1, elements>();
      status = fabric.remote_load(tile, w, Rank{0}, all);
      fabric.store(tile, weights, all);
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
        status = worst(status, fabric.remote_load(tile, x, Rank{rank}, all));
        sum.combine(tile, Sum{});
        fabric.store(tile, gathered, Box{0, rank * elements, 1, elements});
      }
      fabric.store(sum, sums, all);
      status = fabric.converge(status);
    }
    if (status != WaitStatus::ok) return status;
    Values factors;
    Values rows;
    look(fabric, weights, factors);
    look(fabric, sums, result);
    look(fabric, gathered, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      result.push_back(rows[i] * factors[i % static_cast<std::size_t>(elements)]);
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return result;
}

// allred[r][j] = P j + 50 P (P-1), gathered[r][64 s + j] = (100 s + j)(1 + j)
[[nodiscard]] inline Values composition_golden(std::uint32_t /*rank*/, std::uint32_t ranks) {
  Values values;
  for (std::int64_t j = 0; j < elements; ++j)
    values.push_back(static_cast<float>(ranks * j + std::int64_t{50} * ranks * (ranks - 1)));
  for (std::int64_t s = 0; s < ranks; ++s)
    for (std::int64_t j = 0; j < elements; ++j)
      values.push_back(static_cast<float>((100 * s + j) * (1 + j)));
  return values;
}

}  // namespace tutorial
