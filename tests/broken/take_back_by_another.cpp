// Thread 0 of the lane waits for the credit and thread 1 takes it back. Although they meet in
// between, nobody holds that together as soon as either is moved: the waiter alone may take back.
//
// The checker must say: credits.
#include "broken.hpp"

namespace muster::broken::take_back_by_another {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      const Signal theirs = rows.from(fabric.lane(), left_of(fabric));
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      const std::uint32_t taker = fixed ? 0 : 1;
      if (fabric.thread() == 0) {
        fabric.notify(mine, right_of(fabric), 1, NotifyOp::add);
        status = fabric.wait(theirs, Compare::ge, 1);
      }
      if (!fixed) fabric.converge();
      if (fabric.thread() == taker)
        fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(take_back_by_another, credits, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::take_back_by_another
