// The notify is given before the data that it speaks for.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::notify_before_data {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    if (fixed) send(fabric, inbox, right, 0, 7);
    fabric.converge();
    if (fabric.thread() == 0) fabric.notify(mine, right, 1, NotifyOp::set);
    if (!fixed) send(fabric, inbox, right, 0, 7);
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the data");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(notify_before_data, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::notify_before_data
