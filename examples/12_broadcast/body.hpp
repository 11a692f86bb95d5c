// Step 12: broadcast from rank 0. By hand: the root stages, tells everybody, and does not end until
// all have read.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/collective/broadcast.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> broadcast_step(Team& team, const std::string& mode) {
  using namespace muster;
  const auto x = *team.template window<float>({elements}, "x");
  const auto y = *team.template window<float>({elements}, "y");
  const auto stage = *team.template window<float>({elements}, "stage");
  const Signals cells = *team.signals(2);
  const Signal shown = cells[0];
  const Signal read = cells[1];
  const Broadcast<float, elements> builtin(team, {.chunk = elements});
  const Rank root{0};
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, x, counting_values(fabric.rank().value));
    WaitStatus status = WaitStatus::ok;
    if (mode == "builtin") {
      status = builtin.run(fabric, y, x, elements, root);
      if (status == WaitStatus::ok) look(fabric, y, result);
      return status;
    }
    const Box all{0, 0, 1, elements};
    auto tile = fabric.template tile<float, 1, elements>();
    if (fabric.rank() == root) {
      fabric.load(tile, x, all);
      fabric.store(tile, stage, all);
      fabric.store(tile, y, all);
      fabric.converge();
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(shown, peer, 1, NotifyOp::set); });
      // Until then the stage must not be written again: by the next call, say.
      if (fabric.thread() == 0) status = fabric.wait(read, Compare::ge, fabric.size() - 1);
      status = fabric.converge(status);
    } else {
      if (fabric.thread() == 0) status = fabric.wait(shown, Compare::ge, 1);
      status = fabric.converge(status);
      if (status != WaitStatus::ok) return status;
      status = fabric.remote_load(tile, stage, root, all);  // the root's, not the own
      fabric.store(tile, y, all);
      status = fabric.converge(status);  // all threads have read
      if (fabric.thread() == 0) fabric.notify(read, root, 1, NotifyOp::add);
    }
    if (status == WaitStatus::ok) look(fabric, y, result);
    return status;
  });
  if (!ran) return ran.error();
  return result;
}

// y[r] = x[0], and nowhere x[r].
[[nodiscard]] inline Values broadcast_golden(std::uint32_t /*rank*/, std::uint32_t /*ranks*/) {
  return counting_values(0);
}

}  // namespace tutorial
