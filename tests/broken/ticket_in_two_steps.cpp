// A ticket that is looked at first and counted up then: two ranks may draw the same one, and both
// hold the lock.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::ticket_in_two_steps {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({1}, "mine");
  const Signals next = *team.signals(1);
  const Signals called = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank home{0};
    for (std::uint32_t call = 0; call < calls; ++call) {
      Fetched ticket = fabric.fetch_add(next[0], home, fixed ? 1 : 0);
      if (!fixed) (void)fabric.fetch_add(next[0], home, 1);
      const WaitStatus status = fabric.wait(called[0], Compare::ge, ticket.value);
      if (status != WaitStatus::ok) return status;
      send(fabric, mine, home, 0, fetch(fabric, mine, home, 0) + 1);
      if (const WaitStatus flushed = fabric.flush(); flushed != WaitStatus::ok) return flushed;
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(called[0], peer, 1, NotifyOp::add); });
      fabric.notify(called[0], fabric.rank(), 1, NotifyOp::add);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ticket_in_two_steps, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::ticket_in_two_steps
