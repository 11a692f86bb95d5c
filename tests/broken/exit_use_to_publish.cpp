// A barrier with the order `exit` where data is to be read after it. Exit says that the readers of
// a buffer have finished; it makes nothing visible.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::exit_use_to_publish {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto window = *team.window<int>({1}, "data");
  const EpochBarrier barrier(team);
  const EpochBarrier after(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0) fabric.local(window)[0] = static_cast<int>(call) + 1;
      if (barrier.sync(fabric, fixed ? use::full : use::exit) != WaitStatus::ok)
        return WaitStatus::aborted;
      const int seen = fetch(fabric, window, right_of(fabric), 0);
      if (fabric.thread() == 0)
        expect(fabric, seen == static_cast<int>(call) + 1, "the neighbour's value of this call");
      fabric.converge();
      // All have read: the named use that is right here.
      if (after.sync(fabric, use::exit) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(exit_use_to_publish, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::exit_use_to_publish
