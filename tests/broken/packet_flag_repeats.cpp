// Packets whose flag comes round while the slots still hold it, for nobody has cleared them: the
// reader takes the old packets for the new ones. (Here it comes round at once, 1 and 1 again; a
// 32-bit count takes longer.)
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::packet_flag_repeats {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::int64_t lines = packet_lines<int>(2);
  const auto slots = *team.window<PacketLine>({2 * lines}, "slots");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    auto mine = fabric.template tile<int, 1, 2>();
    auto theirs = fabric.template tile<int, 1, 2>();
    // Ranks 0 and 1 exchange packets: what the other sends is also its word that it has read the
    // last but one, which is what two sets of slots need. (In a ring of 3 nobody would say so.)
    if (fabric.rank().value > 1) return WaitStatus::ok;
    const Rank other{1 - fabric.rank().value};
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::uint32_t flag = fixed ? call + 1 : 1;
      const std::int64_t at = call % 2 * lines;
      mine.each(
          [&](std::int64_t, std::int64_t, int& element) { element = static_cast<int>(call); });
      fabric.put_packets(slots, other, at, mine, flag);
      const WaitStatus status = fabric.wait_packets(theirs, slots, at, flag);
      if (fabric.converge(status) != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(packet_flag_repeats, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::packet_flag_repeats
