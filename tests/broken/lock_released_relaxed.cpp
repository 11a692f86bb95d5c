// A ticket lock whose release is relaxed: the next holder knows that its number is called, and not
// what the last one has written.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::lock_released_relaxed {
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
      const WaitStatus status = fabric.wait(called[0], Compare::ge, ticket.value);
      if (status != WaitStatus::ok) return status;
      const int seen = fetch(fabric, mine, home, 0);
      expect(fabric, seen == static_cast<int>(ticket.value), "all before have counted");
      send(fabric, mine, home, 0, seen + 1);
      if (const WaitStatus flushed = fabric.flush(); flushed != WaitStatus::ok) return flushed;
      const Order order = fixed ? Order::release : Order::relaxed;
      for_each_peer(fabric,
                    [&](Rank peer) { fabric.notify(called[0], peer, 1, NotifyOp::add, order); });
      fabric.notify(called[0], fabric.rank(), 1, NotifyOp::add, order);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(lock_released_relaxed, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::lock_released_relaxed
