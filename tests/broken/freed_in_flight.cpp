// A window is freed while a put to it may still be in flight: the ranks have not met since.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::freed_in_flight {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const EpochBarrier barrier(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    if (!fixed) return WaitStatus::ok;
    (void)fabric.flush();
    return barrier.sync(fabric);
  });
  (void)team.free(inbox);
}

}  // namespace

MUSTER_BROKEN(freed_in_flight, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::freed_in_flight
