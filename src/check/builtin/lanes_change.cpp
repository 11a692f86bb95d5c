// GridBarrier and SystemBarrier where each launch runs another number of lanes.
#include <cstdint>

#include "check/builtin/barrier_bodies.hpp"
#include "muster/barrier/grid.hpp"
#include "muster/barrier/system.hpp"
#include "muster/check.hpp"

namespace {

using muster::WaitStatus;
using muster::check::builtin::line;
using muster::model::BarrierScope;

// All lanes, one, all again: each writes its own element, they meet, and each of the lanes that run
// reads those of all that run in its rank. Two elements take turns. A rank on which a wait has
// failed touches no more data, and makes the same calls as the others all the same: they refuse, in
// later launches too, but every rank has to make them (SystemBarrier tells the fabric of each).
template <class Barrier>
void launches(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls,
              const Barrier& barrier, BarrierScope scope) {
  const auto board = *team.window<std::uint32_t>({2, line * lanes}, "board");
  std::uint32_t round = 0;
  std::uint32_t launch = 0;  // its calls are counted apart: not all lanes have made the same
  WaitStatus known = WaitStatus::ok;
  for (const std::uint32_t running : {lanes, 1U, lanes}) {
    const auto ended = team.lanes(running, [&, first = round, launch,
                                            before = known](auto& fabric) {
      WaitStatus status = before;
      for (std::uint32_t call = first; call < first + calls; ++call) {
        if (fabric.thread() == 0 && status == WaitStatus::ok)
          fabric.local(board)[board.at(call % 2, line * fabric.lane().value)] = call + 1;
        status = worst(status, muster::check::barrier_call(
                                   fabric, [&] { return barrier.sync(fabric); }, launch, scope));
        if (status != WaitStatus::ok) continue;
        for (std::uint32_t lane = fabric.thread(); lane < running; lane += fabric.threads())
          muster::expect(fabric, fabric.local(board)[board.at(call % 2, line * lane)] == call + 1,
                         "each lane's element holds this call's number");
      }
      return status;
    });
    if (!ended) known = WaitStatus::refused;
    round += calls;
    ++launch;
  }
}

}  // namespace

MUSTER_CHECK(lanes_change, {.ranks = 2,
                            .calls = 2,
                            .lanes = 3,
                            .group = "grid_barrier",
                            .about = "another number of lanes in each launch"}) {
  const muster::GridBarrier barrier(team);
  launches(team, lanes, calls, barrier, BarrierScope::rank);
}

namespace all_lanes {
MUSTER_CHECK(lanes_change, {.ranks = 2,
                            .calls = 2,
                            .lanes = 3,
                            .group = "system_barrier",
                            .about = "another number of lanes in each launch"}) {
  const muster::SystemBarrier barrier(team);
  launches(team, lanes, calls, barrier, BarrierScope::team);
}
}  // namespace all_lanes
