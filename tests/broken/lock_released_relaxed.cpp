// A ticket lock whose release is relaxed: the next holder knows that its number is called, and not
// what the last one has written.
//
// The checker must say: race.
#include "ticket_lock.hpp"

namespace muster::broken::lock_released_relaxed {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  count_under_lock(
      team, calls,
      [](auto& fabric, Signal next) {
        return fabric.fetch_add(next, lock_home, 1, Order::relaxed);
      },
      await_own,
      [](auto& fabric, Signal called, std::uint32_t /*ticket*/) {
        call_everywhere(fabric, called, fixed ? Order::release : Order::relaxed);
      });
}

}  // namespace

MUSTER_BROKEN(lock_released_relaxed, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::lock_released_relaxed
