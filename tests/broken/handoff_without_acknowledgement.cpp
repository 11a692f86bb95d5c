// A handoff whose sender does not wait until the receiver has acknowledged: the data of the second
// round overwrites what may still be read, and its mark may meet one that has not been taken.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::handoff_without_acknowledgement {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signals cells = *team.signals(2);
  const Signal filled = cells[0], busy = cells[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric), left = left_of(fabric);
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = fixed ? fabric.wait(busy, Compare::eq, 0) : WaitStatus::ok;
      if (status != WaitStatus::ok) return status;
      send(fabric, inbox, right, 0, static_cast<int>(call));
      fabric.notify(busy, fabric.rank(), 1, NotifyOp::set, Order::relaxed);
      fabric.notify(filled, right, 1, NotifyOp::set);
      status = fabric.wait(filled, Compare::eq, 1);
      if (status != WaitStatus::ok) return status;
      fabric.notify(filled, fabric.rank(), 0, NotifyOp::set, Order::relaxed);
      expect(fabric, fabric.local(inbox)[0] == static_cast<int>(call), "the data of this round");
      fabric.notify(busy, left, 0, NotifyOp::set);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(handoff_without_acknowledgement, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::handoff_without_acknowledgement
