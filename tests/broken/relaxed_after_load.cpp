// Each rank looks at its inbox and tells its left neighbour, by a relaxed notify, that it may write
// there. Nothing completes the load before that: a converge would, also in a lane of one thread.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::relaxed_after_load {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    expect(fabric, fabric.local(inbox)[0] == 0, "still empty");
    if (fixed) fabric.converge();
    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    const Signal theirs = rows.from(fabric.lane(), right_of(fabric));
    fabric.notify(mine, left_of(fabric), 1, NotifyOp::set, Order::relaxed);
    const WaitStatus status = fabric.wait(theirs, Compare::ge, 1, Order::relaxed);
    if (status == WaitStatus::ok) send(fabric, inbox, right_of(fabric), 0, 7);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(relaxed_after_load, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::relaxed_after_load
