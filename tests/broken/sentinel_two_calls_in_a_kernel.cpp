// Calls in a loop within one kernel, each of which clears the slots that it has read: the next tile
// that it puts does not carry the clearing, so that the peer's next but one may come before it. A
// kernel for each call mends it, for what is put carries what earlier kernels have done.
//
// The checker must say: clobber.
#include "sentinel.hpp"

namespace muster::broken::sentinel_two_calls_in_a_kernel {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const SentinelSets sets(team, 2);
  const auto one = [&](auto& fabric, std::uint32_t call) {
    sets.put(fabric, call % 2, call);
    const WaitStatus status = sets.wait(fabric, call % 2);
    sets.clear(fabric, call % 2);
    return status;
  };
  if (!fixed)
    return (void)team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      for (std::uint32_t call = 0; call < calls && status == WaitStatus::ok; ++call)
        status = one(fabric, call);
      return status;
    });
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lane([&](auto& fabric) { return one(fabric, call); });
}

}  // namespace

MUSTER_BROKEN(sentinel_two_calls_in_a_kernel, clobber, .ranks = 2, .calls = 3)

}  // namespace muster::broken::sentinel_two_calls_in_a_kernel
