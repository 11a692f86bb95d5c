// An all_to_all in place: a fast peer puts its part over one that has not been sent yet.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::all_to_all_one_buffer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto in = *team.window<int>({team.size()}, "in");
  const auto out = *team.window<int>({team.size()}, "out");
  const auto target = fixed ? out : in;
  const EpochBarrier meeting(team);
  (void)calls;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::int64_t me = fabric.rank().value;
    if (fabric.thread() == 0)
      for (std::int64_t i = 0; i < in.size(); ++i) fabric.local(in)[i] = static_cast<int>(i);
    fabric.converge();
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const Rank peer = right_of(fabric, step);
      fabric.put(target, peer, me, in, peer.value, 1);
    }
    return meeting.sync(fabric);
  });
}

}  // namespace

MUSTER_BROKEN(all_to_all_one_buffer, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::all_to_all_one_buffer
