// An all_gather that pushes its row into the peer's slot of the peer's number, not of its own: all
// rows meet in one place, unordered.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::all_gather_wrong_slot {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto rows = *team.window<int>({team.size()}, "rows");
  const EpochBarrier meeting(team);
  (void)calls;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t step = 0; step < fabric.size(); ++step) {
      const Rank peer = right_of(fabric, step);
      send(fabric, rows, peer, (fixed ? fabric.rank() : peer).value,
           static_cast<int>(fabric.rank().value));
    }
    return meeting.sync(fabric);
  });
}

}  // namespace

MUSTER_BROKEN(all_gather_wrong_slot, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::all_gather_wrong_slot
