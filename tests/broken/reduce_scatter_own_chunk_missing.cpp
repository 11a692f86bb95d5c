// A reduce_scatter that sums over the peers and leaves out what the rank has itself.
//
// The checker must say: expect.
#include "broken.hpp"

namespace muster::broken::reduce_scatter_own_chunk_missing {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({team.size()}, "stage");
  const EpochBarrier meeting(team);
  (void)calls;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    if (fabric.thread() == 0)
      for (std::int64_t i = 0; i < stage.size(); ++i) fabric.local(stage)[i] = 1;
    const WaitStatus status = meeting.sync(fabric);
    if (status != WaitStatus::ok) return status;
    int sum = 0;
    for (std::uint32_t step = fixed ? 0 : 1; step < fabric.size(); ++step)
      sum += fetch(fabric, stage, right_of(fabric, step), fabric.rank().value);
    if (fabric.thread() == 0)
      expect(fabric, sum == static_cast<int>(fabric.size()), "the sum over all ranks");
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(reduce_scatter_own_chunk_missing, expect, .ranks = 2, .calls = 1)

}  // namespace muster::broken::reduce_scatter_own_chunk_missing
