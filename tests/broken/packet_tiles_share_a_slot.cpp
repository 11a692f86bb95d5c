// A call of two tiles in packets, with slots for one: the second tile overwrites the first, which
// its reader may not have read. Each tile of a call has slots of its own.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::packet_tiles_share_a_slot {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  constexpr std::int64_t lines = packet_lines<int>(2);
  constexpr std::int64_t tiles = 2;
  const auto slots = *team.window<PacketLine>({team.size() * tiles * lines}, "slots");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    auto mine = fabric.template tile<int, 1, 2>();
    auto theirs = fabric.template tile<int, 1, 2>();
    const auto place = [&](Rank writer, std::int64_t index) {
      return (writer.value * tiles + (fixed ? index : 0)) * lines;
    };
    const auto flag = [](std::int64_t index) { return static_cast<std::uint32_t>(index) + 1; };
    for (std::int64_t index = 0; index < tiles; ++index) {
      mine.each(
          [&](std::int64_t, std::int64_t, int& element) { element = static_cast<int>(index); });
      fabric.put_packets(slots, right_of(fabric), place(fabric.rank(), index), mine, flag(index));
    }
    for (std::int64_t index = 0; index < tiles; ++index) {
      const Rank peer = left_of(fabric);
      const WaitStatus status = fabric.wait_packets(theirs, slots, place(peer, index), flag(index));
      if (fabric.converge(status) != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(packet_tiles_share_a_slot, race, .ranks = 2)

}  // namespace muster::broken::packet_tiles_share_a_slot
