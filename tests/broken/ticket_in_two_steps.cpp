// A ticket that is looked at first and counted up then: two ranks may draw the same one, and both
// hold the lock.
//
// The checker must say: race.
#include "ticket_lock.hpp"

namespace muster::broken::ticket_in_two_steps {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  count_under_lock(
      team, calls,
      [](auto& fabric, Signal next) {
        const Fetched ticket = fabric.fetch_add(next, lock_home, fixed ? 1 : 0);
        if (!fixed) (void)fabric.fetch_add(next, lock_home, 1);
        return ticket;
      },
      await_own,
      [](auto& fabric, Signal called, std::uint32_t /*ticket*/) {
        call_everywhere(fabric, called, Order::release);
      });
}

}  // namespace

MUSTER_BROKEN(ticket_in_two_steps, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::ticket_in_two_steps
