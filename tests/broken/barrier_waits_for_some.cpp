// A barrier that waits for its left neighbour only. Somebody further away may not have entered yet.
//
// The checker must say: stale pass, with at least 3 ranks.
#include "broken.hpp"

namespace muster::broken::barrier_waits_for_some {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, call, NotifyOp::set);
        });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          if (!fixed && !(peer == left_of(fabric))) return;
          all = worst(all, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, call));
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(barrier_waits_for_some, stale_pass, .ranks = 3, .calls = 1)

}  // namespace muster::broken::barrier_waits_for_some
