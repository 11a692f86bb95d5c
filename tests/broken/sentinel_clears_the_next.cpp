// Three sets of slots whose data is its own flag, cleared ahead, but one call too late: the peers
// may put the next call's tiles while they are cleared. What call k clears is the set of call k+2.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_clears_the_next {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 3);
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) {
      sets.put(fabric, call % 3, call);
      sets.clear(fabric, (call + (fixed ? 2 : 1)) % 3);
      return sets.wait(fabric, call % 3);
    });
}

}  // namespace

MUSTER_BROKEN(sentinel_clears_the_next, clobber, .ranks = 2, .calls = 4)

}  // namespace muster::broken::sentinel_clears_the_next
