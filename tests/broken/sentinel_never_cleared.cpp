// Slots whose data is its own flag that nobody clears: the third call takes the first one's tile
// for its own, while the peer may be writing the next.
//
// The checker must say: race.
#include "sentinel.hpp"

namespace muster::broken::sentinel_never_cleared {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) {
      sets.put(fabric, call % 2, call);
      const WaitStatus status = sets.wait(fabric, call % 2);
      if (fixed) sets.clear(fabric, call % 2);
      return status;
    });
}

}  // namespace

MUSTER_BROKEN(sentinel_never_cleared, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::sentinel_never_cleared
