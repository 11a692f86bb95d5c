// A credit is taken back in the call after the one that it was given in. (The meeting itself rests
// on epochs, so nobody passes too early; but the cell is never zero between calls, and a call that
// waits for a credit of its own is let through by the last one's.)
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::take_back_next_call {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const EpochBarrier barrier(team);
  const Rows credits = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Signal mine = credits.from(fabric.lane(), fabric.rank());
    const Signal theirs = credits.from(fabric.lane(), left_of(fabric));
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        WaitStatus one = WaitStatus::ok;
        const auto take_back = [&] {
          one = fabric.wait(theirs, Compare::ge, 1);
          fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
        };
        if (!fixed && call > 0 && fabric.thread() == 0) take_back();
        if (fabric.thread() == 0) fabric.notify(mine, right_of(fabric), 1, NotifyOp::add);
        if (fixed && fabric.thread() == 0) take_back();
        return worst(fabric.converge(one), barrier.sync(fabric));
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(take_back_next_call, stale_pass, .ranks = 2, .calls = 2)

}  // namespace muster::broken::take_back_next_call
