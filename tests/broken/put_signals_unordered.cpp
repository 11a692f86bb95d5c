// Two pieces, each by a put_signal that sets one cell, to 1 and to 2. Plain notifies of one lane
// into one cell take effect in program order, put_signals do not.
//
// The checker must say: clobber, on rdma. (On direct they take effect at issue.)
#include "broken.hpp"

namespace muster::broken::put_signals_unordered {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const auto mine = *team.window<int>({2}, "source");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Signal told = rows.from(fabric.lane(), fabric.rank());
    for (std::int64_t at = 0; at < 2; ++at) fabric.local(mine)[at] = 7;
    fabric.put_signal(inbox, right, 0, mine, 0, 1, told, 1, NotifyOp::set);
    if (fixed) (void)fabric.flush();
    fabric.put_signal(inbox, right, 1, mine, 1, 1, told, 2, NotifyOp::set);
    const Signal theirs = rows.from(fabric.lane(), left_of(fabric));
    const WaitStatus status = fabric.wait(theirs, Compare::ge, 2);
    if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[1] == 7, "the second piece");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(put_signals_unordered, clobber, .ranks = 2, .calls = 1)

}  // namespace muster::broken::put_signals_unordered
