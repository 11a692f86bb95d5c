// Lane 0 stores, adds to a cell of its own rank, and lets a neighbour add there too. Its add has
// taken effect on return, for itself: lane 1 may still see the neighbour's without it.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::own_notify_seen_late {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t lanes) {
  const auto mine = *team.window<int>({1}, "mine");
  const Signals sum = *team.signals(1);
  const Signals turn = *team.signals(1);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    if (fabric.lane() == Lane{1}) {
      const WaitStatus status = fabric.wait(sum[0], Compare::ge, fixed ? 2 : 1);
      if (status == WaitStatus::ok) expect(fabric, fabric.local(mine)[0] == 7, "lane 0's");
      return status;
    }
    fabric.local(mine)[0] = 7;
    fabric.notify(sum[0], fabric.rank(), 1, NotifyOp::add);
    fabric.notify(turn[0], right_of(fabric), 1, NotifyOp::set, Order::relaxed);
    const WaitStatus status = fabric.wait(turn[0], Compare::ge, 1, Order::relaxed);
    fabric.notify(sum[0], left_of(fabric), 1, NotifyOp::add, Order::relaxed);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(own_notify_seen_late, race, .ranks = 2, .calls = 1, .lanes = 2)

}  // namespace muster::broken::own_notify_seen_late
