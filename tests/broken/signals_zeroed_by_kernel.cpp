// Each rank clears its own signals at the start of its kernel, when peers can reach them already: a
// deposit of a fast peer may be wiped.
//
// The checker must say: clobber. (Where it is wiped, its waiter waits for ever: deadlock.)
#include "broken.hpp"

namespace muster::broken::signals_zeroed_by_kernel {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      if (!fixed) fabric.notify(rows.from(fabric.lane(), peer), fabric.rank(), 0, NotifyOp::set);
    });
    fabric.converge();
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, 1, NotifyOp::set);
    });
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, 1));
    });
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(signals_zeroed_by_kernel, clobber, .ranks = 2, .calls = 1)

}  // namespace muster::broken::signals_zeroed_by_kernel
