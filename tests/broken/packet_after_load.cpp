// As relaxed_after_load, by a packet: it carries its tile, and is ordered with nothing else.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::packet_after_load {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto slots = *team.window<PacketLine>({packet_lines<int>(1)}, "slots");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    expect(fabric, fabric.local(inbox)[0] == 0, "still empty");
    if (fixed) fabric.converge();
    auto word = fabric.template tile<int, 1, 1>();
    fabric.put_packets(slots, left_of(fabric), 0, word, 1);
    const WaitStatus status = fabric.wait_packets(word, slots, 0, 1);
    if (status == WaitStatus::ok) send(fabric, inbox, right_of(fabric), 0, 7);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(packet_after_load, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::packet_after_load
