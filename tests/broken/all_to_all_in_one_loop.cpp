// An all_to_all that tells a peer and waits for it before it tells the next: with three ranks all
// wait for the one that waits for the next, round a circle.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::all_to_all_in_one_loop {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows arrived = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Lane lane = fabric.lane();
    const auto tell = [&](Rank peer, std::uint32_t call) {
      fabric.notify(arrived.from(lane, fabric.rank()), peer, call, NotifyOp::set);
    };
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fixed) for_each_peer(fabric, [&](Rank peer) { tell(peer, call); });
      for_each_peer(fabric, [&](Rank peer) {
        if (!fixed) tell(peer, call);
        status = worst(status, fabric.wait(arrived.from(lane, peer), Compare::ge, call));
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(all_to_all_in_one_loop, deadlock, .ranks = 3, .calls = 1)

}  // namespace muster::broken::all_to_all_in_one_loop
