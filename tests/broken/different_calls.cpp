// Two barriers that every rank has, and rank 0 calls the one where the others call the other.
//
// The checker must say: divergence.
#include "broken.hpp"

namespace muster::broken::different_calls {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const EpochBarrier one(team);
  const CounterBarrier other(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    return fixed || fabric.rank() != Rank{0} ? one.sync(fabric) : other.sync(fabric);
  });
}

}  // namespace

MUSTER_BROKEN(different_calls, divergence, .ranks = 2, .calls = 1)

}  // namespace muster::broken::different_calls
