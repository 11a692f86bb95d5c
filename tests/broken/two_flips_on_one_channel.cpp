// Two FlipBarriers on one channel of the signal pad, at the same time. The mark that a peer hands
// for the one is taken by the other.
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::two_flips_on_one_channel {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows channel = *team.rows();
  const FlipBarrier first(channel);
  const FlipBarrier second(fixed ? *team.rows() : channel);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    // One rank uses the barriers in the other order, where they have nothing to do with each other.
    const bool swapped = !fixed && fabric.rank() == Rank(0);
    for (std::uint32_t call = 0; call < calls; ++call)
      for (const bool other : {swapped, !swapped}) {
        const FlipBarrier& barrier = other ? second : first;
        const WaitStatus status = barrier_call(
            fabric, [&] { return barrier.sync(fabric); }, other ? 1 : 0);
        if (status != WaitStatus::ok) return status;
      }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(two_flips_on_one_channel, stale_pass, .ranks = 2, .calls = 1)

}  // namespace muster::broken::two_flips_on_one_channel
