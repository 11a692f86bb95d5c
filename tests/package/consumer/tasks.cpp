// Deferred waits in a user's program.
#include <cstdio>

#include "muster/muster.hpp"
#include "muster/task.hpp"

int main() {
  return muster::run({.ranks = 2}, [](muster::Team& team) -> muster::Result<void> {
    const auto inbox = *team.window<int>({1});
    const muster::Signal ready = (*team.signals(1))[0];
    muster::task::Graph graph(team, {.workers = 1});
    const auto arrived = graph.submit_waiter("wait", [&](muster::task::Waiter& waiter) {
      waiter.defer_wait(ready, muster::Compare::ge, 1);
    });
    graph.submit("consume", {arrived}, [&](auto& fabric) {
      std::printf("rank %u has consumed %d\n", fabric.rank().value, fabric.local(inbox)[0]);
    });
    graph.submit("publish", {}, [&](auto& fabric) {
      const muster::Rank peer = muster::right_of(fabric);
      fabric.address(inbox, peer)[0] = static_cast<int>(fabric.rank().value) + 1;
      fabric.notify(ready, peer, 1, muster::NotifyOp::set);
    });
    return graph.wait_all();
  });
}
