// A queue is moved up by one element with a put to the own rank whose source and target overlap.
// Every fabric refuses it.
//
// The checker must say: contract.
#include "broken.hpp"

namespace muster::broken::put_onto_itself {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto queue = *team.window<int>({3}, "queue");
  const auto aside = *team.window<int>({2}, "aside");
  (void)team.lane([&](auto& fabric) {
    const Rank self = fabric.rank();
    fabric.local(queue)[1] = 7;
    if (fixed) {
      fabric.put(aside, self, 0, queue, 1, 2);
      fabric.put(queue, self, 0, aside, 0, 2);
    } else {
      fabric.put(queue, self, 0, queue, 1, 2);
    }
    expect(fabric, fabric.local(queue)[0] == 7, "moved up");
  });
}

}  // namespace

MUSTER_BROKEN(put_onto_itself, contract, .ranks = 2, .calls = 1)

}  // namespace muster::broken::put_onto_itself
