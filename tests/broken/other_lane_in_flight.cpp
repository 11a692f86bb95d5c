// Lane 0 puts, and tells lane 1, which tells the peer in the same launch. Another lane's transfers
// are not carried; the end of a launch flushes them.
//
// The checker must say: race, on rdma. (On direct a release carries what has been acquired, and
// that lane 0's put has taken effect.)
#include "broken.hpp"

namespace muster::broken::other_lane_in_flight {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t lanes) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto mine = *team.window<int>({1}, "source");
  const Rows rows = *team.rows();
  const Signals within = *team.signals(1);
  const auto put = [&](auto& fabric) {
    if (fabric.lane() != Lane{0}) return;
    fabric.put(inbox, right_of(fabric), 0, mine, 0, 1);
    fabric.notify(within[0], fabric.rank(), 1, NotifyOp::set);
  };
  const auto tell = [&](auto& fabric) -> WaitStatus {
    if (fabric.lane() != Lane{1}) return WaitStatus::ok;
    WaitStatus status = fabric.wait(within[0], Compare::ge, 1);
    fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), 1, NotifyOp::set);
    const Signal theirs = rows.from(fabric.lane(), left_of(fabric));
    status = worst(status, fabric.wait(theirs, Compare::ge, 1));
    if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 0, "what was put");
    return status;
  };
  if (fixed) (void)team.lanes(lanes, [&](auto& fabric) { put(fabric); });
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    if (!fixed) put(fabric);
    return tell(fabric);
  });
}

}  // namespace

MUSTER_BROKEN(other_lane_in_flight, race, .ranks = 2, .calls = 1, .lanes = 2)

}  // namespace muster::broken::other_lane_in_flight
