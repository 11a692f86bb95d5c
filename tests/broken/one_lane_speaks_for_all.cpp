// A barrier of all lanes of all ranks, the other way round: the lanes of a rank meet, then one of
// them trades with the peers for all. Its notify carries its own transfers, not those that the
// other lanes have under way: each flushes before it meets.
//
// The checker must say: race, on rdma. (On direct it is correct.)
#include "broken.hpp"

namespace muster::broken::one_lane_speaks_for_all {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t lanes) {
  const auto inbox = *team.window<int>({static_cast<std::int64_t>(lanes)}, "inbox");
  const Signals within = *team.signals(2);
  const Rows rows = *team.rows();
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::int64_t own = fabric.lane().value;
    send(fabric, inbox, right_of(fabric), own, 7);
    if (fixed) (void)fabric.flush();
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.lane() != Lane(0)) {
      fabric.notify(within[0], fabric.rank(), 1, NotifyOp::add);
      status = fabric.wait(within[1], Compare::ge, 1);
    } else {
      status = fabric.wait(within[0], Compare::ge, lanes - 1);
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::set); });
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, 1));
      });
      fabric.notify(within[1], fabric.rank(), 1, NotifyOp::set);
    }
    if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[own] == 7, "what was put");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(one_lane_speaks_for_all, race, .ranks = 2, .calls = 1, .lanes = 2)

}  // namespace muster::broken::one_lane_speaks_for_all
