// Two chunks are fetched at once. The first is complete, and the second is read.
//
// The checker must say: race. (Asynchronous transfers are in flight on direct too.)
#include "broken.hpp"

namespace muster::broken::get_read_after_another {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto theirs = *team.window<int>({2}, "theirs");
  const auto mine = *team.window<int>({2}, "copy");
  const EpochBarrier barrier(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for_each_index(fabric, 2, [&](std::int64_t i) { fabric.local(theirs)[i] = 7; });
    if (barrier.sync(fabric) != WaitStatus::ok) return WaitStatus::aborted;
    const auto first = fabric.get_async(mine, 0, theirs, right_of(fabric), 0, 1);
    const auto second = fabric.get_async(mine, 1, theirs, right_of(fabric), 1, 1);
    if (const WaitStatus got = fabric.complete(first); got != WaitStatus::ok) return got;
    if (fabric.thread() == 0) expect(fabric, fabric.local(mine)[0] == 7, "the first chunk");
    if (fixed && fabric.complete(second) != WaitStatus::ok) return WaitStatus::aborted;
    if (fabric.thread() == 0) expect(fabric, fabric.local(mine)[1] == 7, "the second chunk");
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(get_read_after_another, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::get_read_after_another
