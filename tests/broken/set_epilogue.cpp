// A credit barrier that resets its cells by setting zero, where the peers add. A fast peer's credit
// for the next call may be there already, and is wiped.
//
// The checker must say: clobber. (Where the credit is wiped, the next call waits for ever:
// deadlock.)
#include "broken.hpp"

namespace muster::broken::set_epilogue {
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
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          const Signal theirs = rows.from(fabric.lane(), peer);
          all = worst(all, fabric.wait(theirs, Compare::ge, 1));
          const NotifyOp op = fixed ? NotifyOp::add : NotifyOp::set;
          fabric.notify(theirs, fabric.rank(), fixed ? ~0U : 0U, op, Order::relaxed);
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(set_epilogue, clobber, .ranks = 2, .calls = 2)

}  // namespace muster::broken::set_epilogue
