// A ticket lock over atomic objects whose unlock calls the next number by a relaxed store: who is
// called need not see what the last holder has written. The twin releases.
//
// The checker must say: race.
#include "broken.hpp"
#include "muster/check/atomic.hpp"

namespace muster::broken::atomic_ticket_relaxed {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  check::atomic<unsigned> next(0);
  check::atomic<unsigned> called(0);
  check::var<int> number(0);
  (void)team.lanes(lanes, [&](auto& fabric) {
    if (fabric.rank().value > 0) return;  // the lanes of one rank are enough
    for (std::uint32_t call = 0; call < calls; ++call) {
      const unsigned ticket = next.fetch_add(1, std::memory_order_relaxed);
      while (called.load(std::memory_order_acquire) != ticket) {
      }
      number += 1;
      called.store(ticket + 1, fixed ? std::memory_order_release : std::memory_order_relaxed);
    }
  });
}

}  // namespace

MUSTER_BROKEN(atomic_ticket_relaxed, race, .ranks = 1, .calls = 1, .lanes = 2,
              .weakest = Profile::direct)

}  // namespace muster::broken::atomic_ticket_relaxed
