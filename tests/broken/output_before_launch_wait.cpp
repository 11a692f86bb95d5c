// A kernel that may begin before the one before it has ended, and writes what that one still reads
// before it waits for it: launch_done, which let it begin, says nothing of loads.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::output_before_launch_wait {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto data = *team.window<int>({1}, "data");
  (void)team.overlapping_lanes(calls, 1, [&](auto& fabric, std::uint32_t kernel) {
    if (fabric.thread() != 0) return fabric.launch_wait();
    if (fixed || kernel % 2 == 0) fabric.launch_wait();
    if (kernel % 2 == 1) {
      fabric.local(data)[0] = static_cast<int>(kernel);
      fabric.launch_wait();
      return;
    }
    const int seen = fabric.local(data)[0];
    fabric.launch_done();
    expect(fabric, seen == (kernel == 0 ? 0 : static_cast<int>(kernel) - 1),
           "what was written last");
  });
}

}  // namespace

MUSTER_BROKEN(output_before_launch_wait, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::output_before_launch_wait
