// A ticket lock that is released by a set of the cell at which the others look by fetch_add. Where
// a fetched operation is a look and a store, the set may fall between the two, and is lost: then
// nobody is called any more.
//
// The checker must say: clobber.
#include "broken.hpp"

namespace muster::broken::lock_released_by_set {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({1}, "mine");
  const Signals next = *team.signals(1);
  const Signals called = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank home{0};
    for (std::uint32_t call = 0; call < calls; ++call) {
      const Fetched ticket = fabric.fetch_add(next[0], home, 1, Order::relaxed);
      Fetched now{};
      do {
        now = fabric.fetch_add(called[0], home, 0, Order::acquire);
        if (now.status != WaitStatus::ok) return now.status;
      } while (now.value != ticket.value);
      send(fabric, mine, home, 0, fetch(fabric, mine, home, 0) + 1);
      fabric.converge();
      if (fixed)
        fabric.notify(called[0], home, 1, NotifyOp::add);
      else
        fabric.notify(called[0], home, ticket.value + 1, NotifyOp::set);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(lock_released_by_set, clobber, .ranks = 2, .calls = 1)

}  // namespace muster::broken::lock_released_by_set
