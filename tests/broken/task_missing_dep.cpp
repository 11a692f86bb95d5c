// The consumer is submitted behind the waiter but does not depend on it: the order in which tasks
// are submitted orders nothing.
//
// The checker must say: race.
#include "task_broken.hpp"

namespace muster::broken::task_missing_dep {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signals ready = *team.signals(1);
  Graph graph(team);
  const TaskId arrived = graph.submit_waiter("arrived", [&ready, calls](Waiter& waiter) {
    waiter.defer_wait(ready[0], Compare::ge, calls);
  });
  graph.submit("consume", fixed ? task::Deps{arrived} : task::Deps{}, [&inbox](auto& fabric) {
    expect(fabric, fabric.local(inbox)[0] == 5, "what was sent");
  });
  graph.submit("publish", {}, [&inbox, &ready](auto& fabric) {
    const Rank right = right_of(fabric);
    send(fabric, inbox, right, 0, 5);
    fabric.notify(ready[0], right, 1, NotifyOp::add);
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_missing_dep, race, .ranks = 2, .calls = 1, .lanes = 2, .tasks = 3)

}  // namespace muster::broken::task_missing_dep
