// Step 10: all_reduce by hand round a ring: nobody talks to anybody but the two neighbours.
//
// P-1 rounds of reduce-scatter, after which rank r owns the sums of chunk r, and P-1 rounds of
// all-gather. Each round has a cell and a place of its own, so nothing is used twice.
#pragma once

#include "../common/collective_step.hpp"
#include "muster/collective/share.hpp"
#include "muster/reduce.hpp"

namespace tutorial {

template <class Team>
muster::Result<Values> all_reduce_ring(Team& team) {
  using namespace muster;
  const std::uint32_t ranks = team.size();
  if (ranks < 2) return too_few(ranks, 2);
  const std::uint32_t rounds = 2 * (ranks - 1);
  const auto own = *team.template window<float>({elements}, "own");
  const auto inbox = *team.template window<float>({rounds, elements}, "inbox");
  const auto sums = *team.template window<float>({elements}, "sums");
  const Signals arrived = *team.signals(rounds);
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    fill(fabric, own, normal_values(fabric.rank().value));
    auto chunk = fabric.template tile<float, 1, elements>();
    auto mine = fabric.template tile<float, 1, elements>();
    const auto box_of = [&](std::uint32_t round, std::int64_t row) {
      // Chunk me-1 first, then the one before it, and so on; a chunk may be shorter, or empty.
      const Share part = share_of<float>(elements, left_of(fabric, round + 1).value, ranks, 1);
      return Box{row, part.first, 1, part.count};
    };
    fabric.load(chunk, own, box_of(0, 0));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      fabric.remote_store(chunk, inbox, right_of(fabric), box_of(round, round));
      fabric.converge();  // the notify speaks for all threads of the lane
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(arrived[round], right_of(fabric), 1, NotifyOp::set);
        status = fabric.wait(arrived[round], Compare::ge, 1);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      fabric.load(chunk, inbox, box_of(round + 1, round));
      if (round + 1 < ranks) {
        fabric.load(mine, own, box_of(round + 1, 0));
        chunk.combine(mine, Sum{});
      }
      if (round + 2 >= ranks) fabric.store(chunk, sums, box_of(round + 1, 0));
    }
    look(fabric, sums, result);
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return result;
}

}  // namespace tutorial
