// A semaphore of one permit, in a cell that counts those that are out. Acquire counts up first, and
// then waits until no more than one is out. With two lanes it works. With three, two wait: the one
// that leaves counts down to two, and nobody goes on. The twin counts up only where none is out.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::semaphore_counts_first {
namespace {

template <bool fixed, class F>
WaitStatus acquire(F& fabric, Signal out) {
  if (!fixed) {
    const Fetched found = fabric.fetch_add(out, fabric.rank(), 1);
    return worst(found.status, fabric.wait(out, Compare::le, 1));
  }
  for (;;) {
    const WaitStatus status = fabric.wait(out, Compare::eq, 0, Order::relaxed);
    if (status != WaitStatus::ok) return status;
    const Fetched found = fabric.compare_swap(out, fabric.rank(), 0, 1, Order::acquire);
    if (found.status != WaitStatus::ok || found.value == 0) return found.status;
  }
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const auto mine = *team.window<int>({1}, "mine");
  const Signals out = *team.signals(1);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    if (fabric.rank().value > 0) return WaitStatus::ok;  // the lanes of one rank are enough
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = acquire<fixed>(fabric, out[0]);
      if (status != WaitStatus::ok) return status;
      const int seen = fabric.local(mine)[0];
      fabric.local(mine)[0] = seen + 1;
      (void)fabric.fetch_add(out[0], fabric.rank(), ~0U, Order::release);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(semaphore_counts_first, deadlock, .ranks = 1, .calls = 1, .lanes = 3)

}  // namespace muster::broken::semaphore_counts_first
