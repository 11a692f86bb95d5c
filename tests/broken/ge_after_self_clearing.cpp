// A message whose cell clears itself: who has waited takes the credit back. The reader waits for
// the same credit once more before it reads.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::ge_after_self_clearing {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({calls}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  team.promise_zero(Signals{ready, 1});
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      send(fabric, inbox, right_of(fabric), call, 7);
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(ready, right_of(fabric), 1, NotifyOp::add);
        status = fabric.wait(ready, Compare::ge, 1);
        fabric.notify(ready, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
        if (!fixed) status = worst(status, fabric.wait(ready, Compare::ge, 1));
        if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[call]);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ge_after_self_clearing, deadlock, .ranks = 2, .calls = 1)

}  // namespace muster::broken::ge_after_self_clearing
