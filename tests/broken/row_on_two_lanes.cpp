// After a sum over all ranks each row of two elements is divided by what its elements amount to.
// The lanes share the elements, not the rows: each adds up its own element for the other lane to
// find, which no meeting of one lane's threads makes it wait for. With a grain of a row, one lane
// has both.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::row_on_two_lanes {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  constexpr std::uint32_t width = 2;
  const auto row = *team.window<int>({width}, "row");
  const auto parts = *team.window<int>({width}, "parts");
  const EpochBarrier meeting(team);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::uint32_t lane = fabric.lane().value;
    const std::uint32_t first = fixed ? lane * width : lane;
    const std::uint32_t count = fixed ? width : 1;
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = meeting.sync(fabric);  // the sums are there
      if (status != WaitStatus::ok) return status;
      if (first >= width || fabric.thread() != 0) continue;
      for (std::uint32_t i = first; i < first + count; ++i) {
        fabric.local(row)[i] = static_cast<int>(call + 1);
        fabric.local(parts)[i] = static_cast<int>(call + 1);
      }
      int sum = 0;
      for (std::uint32_t i = 0; i < width; ++i) {
        const int part = fabric.local(parts)[i];
        sum += part;
      }
      for (std::uint32_t i = first; i < first + count; ++i) fabric.local(row)[i] = sum;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(row_on_two_lanes, race, .ranks = 2, .calls = 1, .lanes = 2)

}  // namespace muster::broken::row_on_two_lanes
