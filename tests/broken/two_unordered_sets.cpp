// Every rank sets one cell of every peer to the same value. Although either would do, two sets that
// nothing orders are an error, as a set and an add are.
//
// The checker must say: clobber.
#include "broken.hpp"

namespace muster::broken::two_unordered_sets {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Signal mine = rows.from(fabric.lane(), fixed ? fabric.rank() : Rank{0});
    for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::set); });
    const Rank awaited = fixed ? left_of(fabric) : Rank{0};
    return fabric.wait(rows.from(fabric.lane(), awaited), Compare::ge, 1);
  });
}

}  // namespace

MUSTER_BROKEN(two_unordered_sets, clobber, .ranks = 3, .calls = 1)

}  // namespace muster::broken::two_unordered_sets
