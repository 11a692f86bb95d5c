// A semaphore over atomic objects, of one permit, that takes a permit before it looks whether there
// was one: the number of permits goes below zero, by one for each that waits. With two threads it
// works. With three, two wait, and the one that leaves brings the number from -2 to -1. The twin
// takes a permit only where there is one.
//
// The checker must say: deadlock.
#include "broken.hpp"
#include "muster/check/atomic.hpp"

namespace muster::broken::atomic_counts_first {
namespace {

template <bool fixed>
void acquire(check::atomic<int>& permits) {
  if (!fixed) {
    if (permits.fetch_sub(1, std::memory_order_acquire) > 0) return;
    while (permits.load(std::memory_order_acquire) < 0) {
    }
    return;
  }
  for (;;) {
    int there = permits.load(std::memory_order_relaxed);
    if (there > 0 && permits.compare_exchange_weak(there, there - 1, std::memory_order_acquire))
      return;
  }
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  check::atomic<int> permits(1);
  check::var<int> number(0);
  (void)team.lanes(lanes, [&](auto& fabric) {
    if (fabric.rank().value > 0) return;  // the lanes of one rank are enough
    for (std::uint32_t call = 0; call < calls; ++call) {
      acquire<fixed>(permits);
      number += 1;
      permits.fetch_add(1, std::memory_order_release);
    }
  });
}

}  // namespace

MUSTER_BROKEN(atomic_counts_first, deadlock, .ranks = 1, .calls = 1, .lanes = 3,
              .weakest = Profile::direct)

}  // namespace muster::broken::atomic_counts_first
