// A waiter that waits itself, with its fabric, once it has registered: it would hold the worker
// that it is to give back.
//
// The checker must say: contract.
#include "task_broken.hpp"

namespace muster::broken::task_waits_in_a_waiter {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals ready = *team.signals(2);
  Graph graph(team);
  graph.submit_waiter("arrived", [&ready, calls](auto& fabric, Waiter& waiter) {
    waiter.defer_wait(ready[0], Compare::ge, calls);
    if (fixed)
      waiter.defer_wait(ready[1], Compare::ge, calls);
    else
      (void)fabric.wait(ready[1], Compare::ge, calls);
  });
  graph.submit("publish", {}, [&ready](auto& fabric) {
    const Rank right = right_of(fabric);
    expect(fabric, true, "runs");
    for (int i = 0; i < 2; ++i) fabric.notify(ready[i], right, 1, NotifyOp::add);
  });
  (void)graph.wait_all();
}

}  // namespace

MUSTER_BROKEN(task_waits_in_a_waiter, contract, .ranks = 2, .calls = 1, .lanes = 2, .tasks = 2)

}  // namespace muster::broken::task_waits_in_a_waiter
