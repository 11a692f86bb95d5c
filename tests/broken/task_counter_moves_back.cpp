// A cell that counts up to 2 is set back to 0 while a waiter for 2 is pending: whether it has
// looked by then decides.
//
// The checker must say: deadlock.
#include "task_broken.hpp"

namespace muster::broken::task_counter_moves_back {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals ready = *team.signals(2);
  Graph graph(team);
  const TaskId arrived = graph.submit_waiter(
      "arrived", [&ready](Waiter& waiter) { waiter.defer_wait(ready[0], Compare::ge, 2); });
  graph.submit("after", {arrived}, [](auto& fabric) { expect(fabric, true, "runs"); });
  graph.submit("publish", {}, [&ready, calls](auto& fabric) {
    const Rank right = right_of(fabric);
    fabric.notify(ready[0], right, calls + 1, NotifyOp::set);
    if (!fixed) fabric.notify(ready[0], right, 0, NotifyOp::set);
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_counter_moves_back, deadlock, .ranks = 2, .calls = 1, .lanes = 2, .tasks = 3)

}  // namespace muster::broken::task_counter_moves_back
