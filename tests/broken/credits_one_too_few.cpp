// Each peer gives two credits a call and the waiter takes one of them back. The one that is left
// lets the waiter through the next call before the peer has entered it.
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::credits_one_too_few {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        const Signal mine = rows.from(fabric.lane(), fabric.rank());
        for_each_peer(fabric,
                      [&](Rank peer) { fabric.notify(mine, peer, fixed ? 1 : 2, NotifyOp::add); });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          const Signal theirs = rows.from(fabric.lane(), peer);
          all = worst(all, fabric.wait(theirs, Compare::ge, 1));
          fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(credits_one_too_few, stale_pass, .ranks = 2, .calls = 2)

}  // namespace muster::broken::credits_one_too_few
