// A release set says that the data is there; a relaxed one of the same thread, to the same cell,
// says that one more step is done. A waiter for at least the first may read the second, which
// carries nothing.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::relaxed_set_after_release {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    send(fabric, inbox, right, 0, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(mine, right, 1, NotifyOp::set);
      fabric.notify(mine, right, 2, NotifyOp::set, fixed ? Order::release : Order::relaxed);
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the data");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(relaxed_set_after_release, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::relaxed_set_after_release
