// A ticket lock that is released by a set of the cell at which the others look by fetch_add. Where
// a fetched operation is a look and a store, the set may fall between the two, and is lost: then
// nobody is called any more.
//
// The checker must say: clobber.
#include "ticket_lock.hpp"

namespace muster::broken::lock_released_by_set {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  count_under_lock(
      team, calls,
      [](auto& fabric, Signal next) {
        return fabric.fetch_add(next, lock_home, 1, Order::relaxed);
      },
      [](auto& fabric, Signal called, std::uint32_t ticket) {
        Fetched now{};
        do {
          now = fabric.fetch_add(called, lock_home, 0, Order::acquire);
          if (now.status != WaitStatus::ok) return now.status;
        } while (now.value != ticket);
        return WaitStatus::ok;
      },
      [](auto& fabric, Signal called, std::uint32_t ticket) {
        if (fixed)
          fabric.notify(called, lock_home, 1, NotifyOp::add);
        else
          fabric.notify(called, lock_home, ticket + 1, NotifyOp::set);
      });
}

}  // namespace

MUSTER_BROKEN(lock_released_by_set, clobber, .ranks = 2, .calls = 1)

}  // namespace muster::broken::lock_released_by_set
