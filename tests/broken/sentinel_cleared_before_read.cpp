// Slots whose data is its own flag, cleared before the call that reads them rather than after: the
// tile may have come, and is wiped.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_cleared_before_read {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) {
      sets.put(fabric, call % 2, call);
      if (!fixed) sets.clear(fabric, call % 2);
      const WaitStatus status = sets.wait(fabric, call % 2);
      if (fixed) sets.clear(fabric, call % 2);
      return status;
    });
}

}  // namespace

MUSTER_BROKEN(sentinel_cleared_before_read, clobber, .ranks = 2, .calls = 2)

}  // namespace muster::broken::sentinel_cleared_before_read
