// The target of a get_async is read before a flush has said that the data is there.
//
// The checker must say: race. (Asynchronous transfers are in flight on direct too.)
#include "broken.hpp"

namespace muster::broken::get_read_before_flush {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto theirs = *team.window<int>({1}, "theirs");
  const auto mine = *team.window<int>({1}, "copy");
  const EpochBarrier barrier(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    if (fabric.thread() == 0) fabric.local(theirs)[0] = 7;
    if (barrier.sync(fabric) != WaitStatus::ok) return WaitStatus::aborted;
    fabric.get_async(mine, 0, theirs, right_of(fabric), 0, 1);
    if (fixed) (void)fabric.flush();
    fabric.converge();
    if (fabric.thread() == 0) expect(fabric, fabric.local(mine)[0] == 7, "the neighbour's value");
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(get_read_before_flush, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::get_read_before_flush
