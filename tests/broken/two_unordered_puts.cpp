// A block is put with its head still saying "empty"; then its head is put, saying "full", as the
// notice that the block is there. Two transfers are unordered on a network: the first may land
// last.
//
// The checker must say: race, on rdma. (On direct transfers take effect at issue.)
#include "broken.hpp"

namespace muster::broken::two_unordered_puts {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto block = *team.window<int>({2}, "block");  // head, content
  const auto mine = *team.window<int>({2}, "source");
  const EpochBarrier barrier(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    if (fabric.thread() == 0) fabric.local(mine)[1] = 7;
    fabric.converge();
    fabric.put(block, right, 0, mine, 0, 2);
    if (fixed) (void)fabric.flush();
    send(fabric, block, right, 0, 1);
    const WaitStatus status = barrier.sync(fabric);
    if (status == WaitStatus::ok && fabric.thread() == 0)
      expect(fabric, fabric.local(block)[0] == 1, "the block is full");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(two_unordered_puts, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::two_unordered_puts
