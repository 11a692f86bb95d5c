// Two parts of a lane that have a thread in common, one after the other in that thread, and both in
// use: the third thread is in the second part while the first is still in the first. On a GPU the
// two may meet at one named barrier (of parts that begin at warps 0 and 1), where the outer threads
// then meet each other, and not the one in the middle. The lane must meet before a thread is of
// another part.
//
// The checker must say: contract.
#include "broken.hpp"

namespace muster::broken::part_overlaps_another {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto board = *team.window<int>({3}, "board");
  using Pair = Threads<2>;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t own = fabric.thread();
    fabric.local(board)[own] = 1;
    WaitStatus status = WaitStatus::ok;
    for (const std::uint32_t first : {0U, 1U}) {
      if (fabric.template in_part<Pair>(first)) {
        auto part = fabric.template part<Pair>(first);
        status = part.converge(status);
        muster::expect(part, fabric.local(board)[2 * first + 1 - own] == 1,
                       "the other thread of the part has written");
      }
      if (fixed) status = fabric.converge(status);
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(part_overlaps_another, contract, .ranks = 2, .calls = 1, .threads = 3)

}  // namespace muster::broken::part_overlaps_another
