// The two phases of an all_reduce: all show their numbers, meet, each reduces its own share and
// shows the sum, all meet again and collect the sums. Here the sum is shown in the place of the
// first number, which another rank may still be reading.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::two_phase_over_inputs {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const std::int64_t ranks = team.size();
  const auto stage = *team.window<int>({2 * ranks}, "stage");
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::int64_t me = fabric.rank().value;
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0)
        for (std::int64_t i = 0; i < ranks; ++i)
          fabric.local(stage)[i] = static_cast<int>(call + 1);
      WaitStatus status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      int sum = 0;
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
        sum += fetch(fabric, stage, Rank{rank}, me);
      fabric.converge();
      // Into the first element of the inputs, or behind them.
      const std::int64_t result = fixed ? ranks : 0;
      if (fabric.thread() == 0) fabric.local(stage)[result] = sum;
      status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      (void)fetch(fabric, stage, right_of(fabric), result);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(two_phase_over_inputs, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::two_phase_over_inputs
