// A kernel that may begin before the one before it has ended, and reads what that one writes before
// it waits for it. What the last but one has written it may read.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::input_before_launch_wait {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto data = *team.window<int>({8}, "data");
  (void)team.overlapping_lanes(calls, 1, [&](auto& fabric, std::uint32_t kernel) {
    if (fabric.thread() != 0) return fabric.launch_wait();
    if (fixed && kernel > 1) {
      const int old = fabric.local(data)[kernel - 2];
      expect(fabric, old == 8 + static_cast<int>(kernel), "what the last but one has written");
    }
    if (fixed) fabric.launch_wait();
    const int last = kernel > 0 ? static_cast<int>(fabric.local(data)[kernel - 1]) : 9;
    if (!fixed) fabric.launch_wait();
    fabric.launch_done();
    fabric.local(data)[kernel] = last + 1;
  });
}

}  // namespace

MUSTER_BROKEN(input_before_launch_wait, race, .ranks = 2, .calls = 4)

}  // namespace muster::broken::input_before_launch_wait
