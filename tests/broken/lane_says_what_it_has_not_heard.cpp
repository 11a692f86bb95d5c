// A barrier of all lanes of all ranks: each lane trades with its like on every rank, then the lanes
// of a rank meet. A lane whose trade has expired adds to their sum all the same, and the others
// pass without anybody having heard from the peers' lanes of that number.
//
// The checker must say: stale pass, where it lets a wait expire.
#include "broken.hpp"

namespace muster::broken::lane_says_what_it_has_not_heard {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t lanes) {
  const Rows rows = *team.rows();
  const Signal sum = (*team.signals(1))[0];
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const auto meet = [&] {
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::set); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, 1));
      });
      if (!fixed || status == WaitStatus::ok) fabric.notify(sum, fabric.rank(), 1, NotifyOp::add);
      return worst(status, fabric.wait(sum, Compare::ge, lanes));
    };
    return barrier_call(fabric, meet, 0, model::BarrierScope::team);
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(lane_says_what_it_has_not_heard, stale_pass, 1, .ranks = 2, .calls = 1,
                       .lanes = 2)

}  // namespace muster::broken::lane_says_what_it_has_not_heard
