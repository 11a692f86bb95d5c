// A barrier on one sum for each rank, called again after its wait has expired. The second deposit
// of who gave up stands for one that a third rank has not made, and lets another one through. (So
// CounterBarrier, GridBarrier and SystemBarrier refuse such a call.)
//
// The checker must say: stale pass, where it lets a wait expire, with at least 3 ranks.
#include "broken.hpp"

namespace muster::broken::sum_retried_after_expiry {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signal sum = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(sum, peer, 1, NotifyOp::add); });
        return fabric.wait(sum, Compare::ge, call * (fabric.size() - 1));
      });
      if (fixed && status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(sum_retried_after_expiry, stale_pass, 1, .ranks = 3, .calls = 2)

}  // namespace muster::broken::sum_retried_after_expiry
