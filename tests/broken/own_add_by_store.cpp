// All ranks add to one element of each rank. To its own, a rank adds by load and store: remote_add
// to the own rank is a local access, but atomic with those of the peers.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::own_add_by_store {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto sums = *team.window<int>({1}, "sums");
  const EpochBarrier barrier(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    auto one = fabric.template tile<int, 1, 1>();
    one.each([](std::int64_t, std::int64_t, int& element) { element = 1; });
    for_each_peer(fabric, [&](Rank peer) { fabric.remote_add(one, sums, peer, Box{0, 0, 1, 1}); });
    if (fixed)
      fabric.remote_add(one, sums, fabric.rank(), Box{0, 0, 1, 1});
    else
      fabric.local(sums)[0] += 1;
    const WaitStatus status = barrier.sync(fabric);
    const int all = static_cast<int>(fabric.size());
    if (status == WaitStatus::ok) expect(fabric, fabric.local(sums)[0] == all, "one from each");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(own_add_by_store, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::own_add_by_store
