// Code that knows nothing of muster under the checker: `counts_first` hangs with three threads,
// `looks_first` and `ticket_lock` hold.
//
//   ./atomic_locks                    checks all; exit code 1, for the first is refuted
//   ./atomic_locks counts_first --lanes 2    holds: two threads are too few to see it
#include <atomic>

#include "muster/check.hpp"
#include "muster/check/atomic.hpp"
#include "semaphore.hpp"
#include "ticket_lock.hpp"

namespace {

template <class T>
using Atomic = muster::check::atomic<T>;  // was std::atomic<T>

// What the lock guards is a plain number: two at once are a race.
template <class Enter, class Leave>
void count(muster::model::Team& team, std::uint32_t calls, std::uint32_t lanes, Enter enter,
           Leave leave) {
  muster::check::var<int> number{0};
  (void)team.lanes(lanes, [&](auto&) {
    for (std::uint32_t call = 0; call < calls; ++call) {
      enter();
      number += 1;
      leave();
    }
  });
  team.expect(number == static_cast<int>(calls * lanes), "all have counted");
}

constexpr auto direct = muster::Profile::direct;

}  // namespace

MUSTER_CHECK(counts_first, {.ranks = 1, .calls = 1, .lanes = 3, .weakest = direct}) {
  CountsFirst<Atomic> permits(1);
  count(
      team, calls, lanes, [&] { permits.acquire(); }, [&] { permits.release(); });
}

MUSTER_CHECK(looks_first, {.ranks = 1, .calls = 1, .lanes = 3, .weakest = direct}) {
  LooksFirst<Atomic> permits(1);
  count(
      team, calls, lanes, [&] { permits.acquire(); }, [&] { permits.release(); });
}

MUSTER_CHECK(ticket_lock, {.ranks = 1, .calls = 1, .lanes = 3, .weakest = direct}) {
  TicketLock<Atomic> lock;
  count(
      team, calls, lanes, [&] { lock.lock(); }, [&] { lock.unlock(); });
}
