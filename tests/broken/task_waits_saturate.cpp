// As many tasks that wait as there are workers, submitted before who publishes: where waits block
// they hold all workers, and the publisher never runs. Waiters give them back.
//
// The checker must say: deadlock.
#include "task_broken.hpp"

namespace muster::broken::task_waits_saturate {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signals ready = *team.signals(1);
  Graph graph(team);
  for (std::uint32_t call = 0; call < calls; ++call) {
    if (fixed) {
      const TaskId arrived = graph.submit_waiter(
          "wait", [&ready](Waiter& waiter) { waiter.defer_wait(ready[0], Compare::ge, 1); });
      graph.submit("consume", {arrived}, [&inbox](auto& fabric) {
        expect(fabric, fabric.local(inbox)[0] == 9, "what was sent");
      });
    } else {
      graph.submit("wait and consume", {}, [&inbox, &ready](auto& fabric) {
        const WaitStatus status = fabric.wait(ready[0], Compare::ge, 1);
        expect(fabric, fabric.local(inbox)[0] == 9, "what was sent");
        return status;
      });
    }
  }
  graph.submit("publish", {}, [&inbox, &ready](auto& fabric) {
    send(fabric, inbox, right_of(fabric), 0, 9);
    fabric.notify(ready[0], right_of(fabric), 1, NotifyOp::add);
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_waits_saturate, deadlock, .ranks = 2, .calls = 2, .lanes = 2, .tasks = 5)

}  // namespace muster::broken::task_waits_saturate
