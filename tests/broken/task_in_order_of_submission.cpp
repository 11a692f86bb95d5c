// A task that waits is submitted after the one that publishes, on one worker: in the order of
// submission all is well, but nothing keeps the worker from taking the other one first.
//
// The checker must say: deadlock.
#include "task_broken.hpp"

namespace muster::broken::task_in_order_of_submission {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto data = *team.window<int>({1}, "data");
  const Signals ready = *team.signals(1);
  Graph graph(team);
  const TaskId publish = graph.submit("publish", {}, [&](auto& fabric) {
    fabric.local(data)[0] = 4;
    for (std::uint32_t call = 0; call < calls; ++call)
      fabric.notify(ready[0], fabric.rank(), 1, NotifyOp::add);
  });
  graph.submit("wait", fixed ? task::Deps{publish} : task::Deps{}, [&](auto& fabric) {
    const WaitStatus status = fabric.wait(ready[0], Compare::ge, calls);
    expect(fabric, fabric.local(data)[0] == 4, "what was written");
    return status;
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_in_order_of_submission, deadlock, .ranks = 2, .calls = 1, .lanes = 1, .tasks = 2)

}  // namespace muster::broken::task_in_order_of_submission
