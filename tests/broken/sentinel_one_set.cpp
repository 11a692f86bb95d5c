// Slots whose data is its own flag, in one set that every call uses again. A peer may clear them
// when this rank's next tile is there already, and loses it. With two sets in turn the next call's
// tile tells that this call's slots are cleared.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_one_set {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) {
      const std::uint32_t set = fixed ? call % 2 : 0;
      sets.put(fabric, set, call);
      const WaitStatus status = sets.wait(fabric, set);
      sets.clear(fabric, set);
      return status;
    });
}

}  // namespace

MUSTER_BROKEN(sentinel_one_set, clobber, .ranks = 2, .calls = 3)

}  // namespace muster::broken::sentinel_one_set
