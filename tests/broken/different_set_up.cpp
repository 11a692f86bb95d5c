// The ranks make the same two things in different orders, so that what one takes for a window is
// another's row of signals.
//
// The checker must say: divergence.
#include "broken.hpp"

namespace muster::broken::different_set_up {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  Rows rows;
  WindowRef<int> window;
  const bool window_first = fixed || team.rank().value == 0;
  if (window_first) window = *team.window<int>({1}, "data");
  rows = *team.rows();
  if (!window_first) window = *team.window<int>({1}, "data");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, window, right_of(fabric), 0, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(different_set_up, divergence, .ranks = 2, .calls = 1)

}  // namespace muster::broken::different_set_up
