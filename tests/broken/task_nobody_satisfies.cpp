// A waiter waits for one deposit more than are made, and a task depends on it.
//
// The checker must say: deadlock.
#include "task_broken.hpp"

namespace muster::broken::task_nobody_satisfies {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals ready = *team.signals(1);
  Graph graph(team);
  const TaskId arrived = graph.submit_waiter("arrived", [&ready, calls](Waiter& waiter) {
    waiter.defer_wait(ready[0], Compare::ge, fixed ? calls : calls + 1);
  });
  graph.submit("after", {arrived}, [](auto& fabric) { expect(fabric, true, "runs"); });
  graph.submit("publish", {}, [&ready, calls](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call)
      fabric.notify(ready[0], right_of(fabric), 1, NotifyOp::add);
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_nobody_satisfies, deadlock, .ranks = 2, .calls = 1, .lanes = 1, .tasks = 3)

}  // namespace muster::broken::task_nobody_satisfies
