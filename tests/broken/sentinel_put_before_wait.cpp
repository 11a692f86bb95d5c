// A kernel that may begin before the one before it has ended, and puts before it waits for that:
// its tile does not carry what the kernel before has cleared. After launch_wait it does.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_put_before_wait {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  (void)team.overlapping_lanes(calls, 1, [&](auto& fabric, std::uint32_t call) {
    if (fixed) fabric.launch_wait();
    sets.put(fabric, call % 2, call);
    if (!fixed) fabric.launch_wait();
    fabric.launch_done();
    const WaitStatus status = sets.wait(fabric, call % 2);
    sets.clear(fabric, call % 2);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(sentinel_put_before_wait, clobber, .ranks = 2, .calls = 3)

}  // namespace muster::broken::sentinel_put_before_wait
