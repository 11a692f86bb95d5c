// A take-back that has not taken effect when the waiter waits again: here by a put_signal to the
// own rank, which is a transfer. The next wait may see the old credit once more.
//
// The checker must say: stale pass, on rdma. (On direct the take-back takes effect at issue.)
#include "broken.hpp"

namespace muster::broken::take_back_in_flight {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  const auto nothing = *team.window<int>({1}, "nothing");
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
          const Rank self = fabric.rank();
          if (fixed)
            fabric.notify(theirs, self, ~0U, NotifyOp::add, Order::relaxed);
          else
            fabric.put_signal(nothing, self, 0, nothing, 0, 0, theirs, ~0U, NotifyOp::add);
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(take_back_in_flight, stale_pass, .ranks = 2, .calls = 2)

}  // namespace muster::broken::take_back_in_flight
