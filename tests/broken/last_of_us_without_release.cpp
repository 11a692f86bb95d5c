// Who counts last looks at what all have written, and the others have counted without a release.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::last_of_us_without_release {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({team.size()}, "mine");
  const Signals arrived = *team.signals(calls);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank home{0};
    for (std::uint32_t call = 0; call < calls; ++call) {
      send(fabric, mine, home, fabric.rank().value, 7);
      fabric.converge();
      const Order order = fixed ? Order::acq_rel : Order::acquire;
      const Fetched before = fabric.fetch_add(arrived[call], home, 1, order);
      if (before.status != WaitStatus::ok) return before.status;
      if (before.value + 1 != fabric.size()) continue;
      // The own one is still on its way, perhaps: a release carries it to others.
      for_each_peer(fabric, [&](Rank peer) {
        expect(fabric, fetch(fabric, mine, home, peer.value) == 7, "a rank's number");
      });
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(last_of_us_without_release, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::last_of_us_without_release
