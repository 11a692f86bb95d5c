// A notify that every thread of the lane executes, where it was meant once for the lane. Each call
// gives twice the credits that it takes back.
//
// The checker must say: credits with one call, stale pass with two.
#include "broken.hpp"

namespace muster::broken::notify_once_per_thread {
namespace {

// Unlike for_each_peer, all peers by the calling thread.
template <class F, class Visit>
void for_each(const F& fabric, Visit&& visit) {
  for (std::uint32_t p = 0; p < fabric.size(); ++p) {
    if (p != fabric.rank().value) visit(Rank{p});
  }
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        const Signal mine = rows.from(fabric.lane(), fabric.rank());
        // Every thread of the lane gets here.
        if (!fixed || fabric.thread() == 0)
          for_each(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
        WaitStatus all = WaitStatus::ok;
        if (fabric.thread() == 0)
          for_each(fabric, [&](Rank peer) {
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

MUSTER_BROKEN(notify_once_per_thread, credits, .ranks = 2, .calls = 1, .threads = 2)
MUSTER_BROKEN(notify_once_per_thread_twice, stale_pass, .ranks = 2, .calls = 2, .threads = 2)

}  // namespace muster::broken::notify_once_per_thread
