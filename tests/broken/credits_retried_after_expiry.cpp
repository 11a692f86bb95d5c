// A credit barrier that is called again after its wait has expired. The credit that it did not wait
// for comes late, and the next call takes it for its own. (So CreditBarrier refuses such a call.)
//
// The checker must say: stale pass, where it lets a wait expire.
#include "broken.hpp"

namespace muster::broken::credits_retried_after_expiry {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          const Signal theirs = rows.from(fabric.lane(), peer);
          const WaitStatus one = fabric.wait(theirs, Compare::ge, 1);
          if (one == WaitStatus::ok)
            fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
          all = worst(all, one);
        });
        return all;
      });
      if (fixed && status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(credits_retried_after_expiry, stale_pass, 1, .ranks = 2, .calls = 2)

}  // namespace muster::broken::credits_retried_after_expiry
