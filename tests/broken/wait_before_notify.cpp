// Every rank waits for its left neighbour before it notifies its right one.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::wait_before_notify {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      const Signal theirs = rows.from(fabric.lane(), left_of(fabric));
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        if (fixed) fabric.notify(mine, right_of(fabric), call, NotifyOp::set);
        status = fabric.wait(theirs, Compare::ge, call);
        if (!fixed) fabric.notify(mine, right_of(fabric), call, NotifyOp::set);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(wait_before_notify, deadlock, .ranks = 3, .calls = 1)

}  // namespace muster::broken::wait_before_notify
