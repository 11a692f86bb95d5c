// Lanes that take tiles in turn and show each in a slot that belongs to the tile's number: as many
// slots as are in use at a time, 2 for each of 2 lanes. It works with 2 lanes, and with 3 a slot
// passes from lane to lane: who writes it has met its namesakes, who have read nothing of it.
// Slots belong to lanes.
//
// The checker must say: race, with at least 3 lanes.
#include "broken.hpp"

namespace muster::broken::slots_by_tile {
namespace {

constexpr std::uint32_t slots = 4;

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const EpochBarrier barrier(team);
  const auto window = *team.window<int>({fixed ? lanes * 2 : slots}, "slots");
  const std::uint32_t tiles = lanes * 2 * calls;
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::uint32_t lane = fabric.lane().value;
    for (std::uint32_t round = 0; round * lanes + lane < tiles; ++round) {
      const std::uint32_t tile = round * lanes + lane;
      const std::int64_t slot = fixed ? lane * 2 + round % 2 : tile % slots;
      send(fabric, window, fabric.rank(), slot, static_cast<int>(tile));
      const WaitStatus met = barrier.sync(fabric);
      if (met != WaitStatus::ok) return met;
      const int seen = fetch(fabric, window, right_of(fabric), slot);
      expect(fabric, fabric.thread() != 0 || seen == static_cast<int>(tile), "the peer's tile");
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(slots_by_tile, race, .ranks = 2, .calls = 1, .lanes = 3)

}  // namespace muster::broken::slots_by_tile
