// A store to the own rank is done on return, as any store is, and as any store is seen by the
// lane's other threads after a converge only.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::own_store_for_siblings {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  (void)team.lane([&](auto& fabric) {
    send(fabric, inbox, fabric.rank(), 0, 7);
    if (fixed) fabric.converge();
    expect(fabric, fabric.local(inbox)[0] == 7, "what the lane has stored");
  });
}

}  // namespace

MUSTER_BROKEN(own_store_for_siblings, race, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::own_store_for_siblings
