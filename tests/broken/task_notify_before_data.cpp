// A graph of tasks in which the publisher notifies before it sends: the consumer follows the
// waiter, and the waiter the deposit, which does not carry what comes after it.
//
// The checker must say: race.
#include <vector>

#include "task_broken.hpp"

namespace muster::broken::task_notify_before_data {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const Signals ready = *team.signals(1);
  Graph graph(team);
  std::vector<TaskId> before;  // one that publishes follows the one of the call before
  for (std::uint32_t call = 0; call < calls; ++call) {
    const TaskId arrived = graph.submit_waiter("arrived", [&ready, call](Waiter& waiter) {
      waiter.defer_wait(ready[0], Compare::ge, call + 1);
    });
    graph.submit("consume", {arrived}, [&inbox, call](auto& fabric) {
      expect(fabric, fabric.local(inbox)[call] == static_cast<int>(call) + 1, "what was sent");
    });
    const TaskId publish = graph.submit("publish", before, [&inbox, &ready, call](auto& fabric) {
      const Rank right = right_of(fabric);
      if (!fixed) fabric.notify(ready[0], right, 1, NotifyOp::add);
      send(fabric, inbox, right, call, static_cast<int>(call) + 1);
      if (fixed) fabric.notify(ready[0], right, 1, NotifyOp::add);
    });
    before = {publish};
  }
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_notify_before_data, race, .ranks = 2, .calls = 2, .lanes = 1, .tasks = 6)

}  // namespace muster::broken::task_notify_before_data
