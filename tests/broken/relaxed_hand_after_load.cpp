// As relaxed_after_load, by hand and take.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::relaxed_hand_after_load {
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
    const WaitStatus told = fabric.hand(mine, left_of(fabric), Order::relaxed);
    const WaitStatus status = worst(told, fabric.take(theirs, Order::relaxed));
    if (status == WaitStatus::ok) send(fabric, inbox, right_of(fabric), 0, 7);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(relaxed_hand_after_load, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::relaxed_hand_after_load
