// A credit barrier on several lanes whose epilogue takes back from the cells of lane 0, whichever
// lane it runs on: lane 0's cells are cleared twice, the others' never.
//
// The checker must say: credits. (Then stale pass and deadlock.)
#include "broken.hpp"

namespace muster::broken::epilogue_on_several_lanes {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const Rows rows = *team.rows();
  team.promise_zero(rows);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        const Signal mine = rows.from(fabric.lane(), fabric.rank());
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          all = worst(all, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, 1));
        });
        const Lane cleared = fixed ? fabric.lane() : Lane{0};
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(rows.from(cleared, peer), fabric.rank(), ~0U, NotifyOp::add,
                        Order::relaxed);
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(epilogue_on_several_lanes, credits, .ranks = 2, .calls = 2, .lanes = 2)

}  // namespace muster::broken::epilogue_on_several_lanes
