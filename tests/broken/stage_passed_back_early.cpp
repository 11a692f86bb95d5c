// Two ranks show each other a number, and each answers in the place of the other's. The next
// number must go where the last one went, since that is where the own answer was read. Here it goes
// where the rank has answered, as it would without an answer, and the other may still be reading.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::stage_passed_back_early {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({1}, "stage");
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::uint32_t turned = fixed ? 0 : call & 1U;
      const Rank mine{fabric.rank().value ^ turned};
      const Rank theirs{1 - mine.value};
      const bool shows = fabric.rank().value < 2;  // any others meet with the two
      if (shows) send(fabric, stage, mine, 0, static_cast<int>(call + 1));
      WaitStatus status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      if (shows) send(fabric, stage, theirs, 0, fetch(fabric, stage, theirs, 0) + 1);
      status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      if (shows) (void)fetch(fabric, stage, mine, 0);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(stage_passed_back_early, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::stage_passed_back_early
