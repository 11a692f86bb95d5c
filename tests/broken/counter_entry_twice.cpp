// A CounterBarrier used twice in one launch with `entry`, whose notifies are relaxed. A fast peer's
// second deposit may stand for a slow one's first, and speaks for what the fast one had written
// before the launch: not for what it has heard of the slow one since. The second call is `full`.
//
// The checker must say: race, with at least 3 ranks.
#include "broken.hpp"

namespace muster::broken::counter_entry_twice {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto outbox = *team.window<int>({1}, "outbox");
  const CounterBarrier barrier(team);
  (void)team.lane([&](auto& fabric) {
    if (fabric.thread() == 0) fabric.local(outbox)[0] = 7;
  });
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    if (barrier.sync(fabric, use::entry) != WaitStatus::ok) return WaitStatus::aborted;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const int seen = fetch(fabric, outbox, right_of(fabric, step), 0);
      if (fabric.thread() == 0) expect(fabric, seen == 7, "what the launch before has written");
    }
    return barrier.sync(fabric, fixed ? use::full : use::entry);
  });
}

}  // namespace

MUSTER_BROKEN(counter_entry_twice, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::counter_entry_twice
