// A credit barrier that takes its credits back before it has waited for them, and then waits for 0.
// The sums are the same, but the cell is negative in between: who looks at it then, the report of a
// hang or another waiter, sees a debt that nobody has made.
//
// The checker must say: credits.
#include "broken.hpp"

namespace muster::broken::credits_taken_back_early {
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
          const auto take_back = [&] {
            fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
          };
          if (!fixed) take_back();
          all = worst(all, fabric.wait(theirs, Compare::ge, fixed ? 1 : 0));
          if (fixed) take_back();
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(credits_taken_back_early, credits, .ranks = 2, .calls = 2)

}  // namespace muster::broken::credits_taken_back_early
