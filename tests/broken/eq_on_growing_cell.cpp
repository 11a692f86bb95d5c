// A barrier that waits for its epoch with eq. The cell grows: a peer that is one call ahead has
// raised it before a slow waiter looks, and the value it waits for never comes back.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::eq_on_growing_cell {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      fabric.converge();
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, call, NotifyOp::set); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        const Signal theirs = rows.from(fabric.lane(), peer);
        status = worst(status, fabric.wait(theirs, fixed ? Compare::ge : Compare::eq, call));
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(eq_on_growing_cell, deadlock, .ranks = 3, .calls = 2)

}  // namespace muster::broken::eq_on_growing_cell
