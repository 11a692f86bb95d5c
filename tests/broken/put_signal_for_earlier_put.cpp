// A put, then a put_signal of another piece to the same peer, whose signal is taken to speak for
// both. It carries its own payload only.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::put_signal_for_earlier_put {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const auto mine = *team.window<int>({2}, "source");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Signal told = rows.from(fabric.lane(), fabric.rank());
    for (std::int64_t at = 0; fabric.thread() == 0 && at < 2; ++at) fabric.local(mine)[at] = 7;
    fabric.converge();
    if (fixed) {
      fabric.put_signal(inbox, right, 0, mine, 0, 2, told, 1, NotifyOp::set);
    } else {
      fabric.put(inbox, right, 0, mine, 0, 1);
      fabric.put_signal(inbox, right, 1, mine, 1, 1, told, 1, NotifyOp::set);
    }
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the first piece");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(put_signal_for_earlier_put, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::put_signal_for_earlier_put
