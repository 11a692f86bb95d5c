// All ranks show a number and sum over what all show, without a meeting in between: a fast rank
// sums what a slow one has not shown yet.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::mesh_without_barrier {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({2}, "stage");
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0) fabric.local(stage)[call % 2] = static_cast<int>(call);
      if (fixed) {
        const WaitStatus status = meeting.sync(fabric);
        if (status != WaitStatus::ok) return status;
      }
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        (void)fetch(fabric, stage, right_of(fabric, step), call % 2);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(mesh_without_barrier, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::mesh_without_barrier
