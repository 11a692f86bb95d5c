// A kernel that may begin before the one before it has ended, and reads a counter before it waits
// for that: it may read the count before the kernel before has counted on, and take its epoch
// again.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::counter_before_launch_wait {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto rows = *team.rows();
  (void)team.overlapping_lanes(calls, 1, [&](auto& fabric, std::uint32_t) -> WaitStatus {
    const Counter counter = rows.epoch(fabric.lane());
    if (fixed) fabric.launch_wait();
    const std::uint32_t epoch = fabric.counter(counter) + 1;
    if (!fixed) fabric.launch_wait();
    fabric.launch_done();
    fabric.converge();
    if (fabric.thread() == 0) {
      fabric.set_counter(counter, epoch);
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), epoch,
                    NotifyOp::set);
    }
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0)
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, epoch);
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(counter_before_launch_wait, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::counter_before_launch_wait
