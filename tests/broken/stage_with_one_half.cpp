// All ranks show each other a number in every call, meet, and read. With one place for it, a fast
// rank writes the next call's number while a slow one still reads this call's. Two places in turn
// mend it: who writes the first again has met everybody once more.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::stage_with_one_half {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({2}, "stage");
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::int64_t half = fixed ? call % 2 : 0;
      if (fabric.thread() == 0) fabric.local(stage)[half] = static_cast<int>(call);
      const WaitStatus status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      (void)fetch(fabric, stage, right_of(fabric), half);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(stage_with_one_half, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::stage_with_one_half
