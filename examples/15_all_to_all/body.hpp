// Step 15: all_to_all. By hand: P puts, then one signal to each, and a wait for each.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/collective/all_to_all.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_to_all_step(Team& team, const std::string& mode) {
  using namespace muster;
  const std::int64_t ranks = team.size();
  // Two buffers: with one, a fast peer would put over what is still to be sent.
  const auto in = *team.template window<float>({ranks * elements}, "in");
  const auto out = *team.template window<float>({ranks * elements}, "out");
  const Rows arrived = *team.rows();
  const AllToAll<float, elements> builtin(team, {.chunk = ranks * elements});
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    const Rank me = fabric.rank();
    Values values;
    for (std::int64_t d = 0; d < ranks; ++d)
      for (std::int64_t j = 0; j < elements; ++j)
        values.push_back(static_cast<float>(1000 * std::int64_t{me.value} + 100 * d + j));
    fill(fabric, in, values);
    WaitStatus status = WaitStatus::ok;
    if (mode == "builtin") {
      status = builtin.run(fabric, out, in, elements);
    } else {
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank peer = right_of(fabric, step);
        // Row `me` of the peer's, not row `peer`.
        fabric.put(out, peer, me.value * elements, in, peer.value * elements, elements);
      }
      // All are told before anybody is waited for: in one loop all would wait round a circle.
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(arrived.from(fabric.lane(), me), peer, 1, NotifyOp::set);
      });
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(arrived.from(fabric.lane(), peer), Compare::ge, 1));
      });
      status = fabric.converge(status);
    }
    if (status == WaitStatus::ok) look(fabric, out, result);
    return status;
  });
  if (!ran) return ran.error();
  return result;
}

// out[r][s][j] = 1000 s + 100 r + j
[[nodiscard]] inline Values all_to_all_golden(std::uint32_t rank, std::uint32_t ranks) {
  Values values;
  for (std::int64_t s = 0; s < ranks; ++s)
    for (std::int64_t j = 0; j < elements; ++j)
      values.push_back(static_cast<float>(1000 * s + 100 * std::int64_t{rank} + j));
  return values;
}

}  // namespace tutorial
