// Two sets of slots whose data is its own flag, of which a call clears the one that it has not
// read: the next call's tiles may be there already, and those that it has read stay.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_clears_the_other {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) {
      sets.put(fabric, call % 2, call);
      const WaitStatus status = sets.wait(fabric, call % 2);
      sets.clear(fabric, fixed ? call % 2 : (call + 1) % 2);
      return status;
    });
}

}  // namespace

MUSTER_BROKEN(sentinel_clears_the_other, clobber, .ranks = 2, .calls = 3)

}  // namespace muster::broken::sentinel_clears_the_other
