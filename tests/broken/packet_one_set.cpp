// Packets in one set of slots, used again in the next call. A peer may not have read the last
// call's packets when the next ones overwrite them. Two sets in turn mend it: packets of call k+1
// tell that call k was read.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::packet_one_set {
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
      return ((fixed ? call % 2 : 0) * ranks + writer.value) * lines;
    };
    for (std::uint32_t call = 0; call < calls; ++call) {
      mine.each(
          [&](std::int64_t, std::int64_t, int& element) { element = static_cast<int>(call); });
      fabric.put_packets(slots, right_of(fabric), place(call, fabric.rank()), mine, call + 1);
      if (fabric.size() > 2)
        fabric.put_packets(slots, left_of(fabric), place(call, fabric.rank()), mine, call + 1);
      for (const Rank peer : {left_of(fabric), right_of(fabric)}) {
        const WaitStatus status = fabric.wait_packets(theirs, slots, place(call, peer), call + 1);
        if (fabric.converge(status) != WaitStatus::ok) return status;
        if (fabric.size() == 2) break;
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(packet_one_set, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::packet_one_set
