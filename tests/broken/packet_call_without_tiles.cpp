// Packets in two sets of slots in turn, where a call of no elements sends nothing. Then nobody
// tells that the call before it was read, and the call after it overwrites that one's slots. A call
// of no elements sends a tile all the same.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::packet_call_without_tiles {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::int64_t lines = packet_lines<int>(2);
  const std::int64_t ranks = team.size();
  const auto slots = *team.window<PacketLine>({2 * ranks * lines}, "slots");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    auto mine = fabric.template tile<int, 1, 2>();
    auto theirs = fabric.template tile<int, 1, 2>();
    const auto place = [&](std::uint32_t call, Rank writer) {
      return (call % 2 * ranks + writer.value) * lines;
    };
    for (std::uint32_t call = 0; call < calls; ++call) {
      const bool empty = call % 2 == 1;
      if (empty && !fixed) continue;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        fabric.put_packets(slots, right_of(fabric, step), place(call, fabric.rank()), mine,
                           call + 1);
      WaitStatus status = WaitStatus::ok;
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const std::int64_t at = place(call, right_of(fabric, step));
        status = worst(status, fabric.wait_packets(theirs, slots, at, call + 1));
      }
      if (fabric.converge(status) != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(packet_call_without_tiles, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::packet_call_without_tiles
