// A pipeline over slots that finds its slot as `count % slots`, with a 32-bit count that comes
// round. With 3 slots, 2^32 - 1 and 0 are the same slot: the second message overwrites the first,
// which its sender takes to lie elsewhere. With 4, which divide 2^32, all is well.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::slot_count_wraps {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t slots = fixed ? 4 : 3;
  constexpr std::uint32_t first = ~1U;  // the second message is 2^32 - 1, the third 0
  const auto inbox = *team.window<int>({slots}, "inbox");
  const Signals cells = *team.signals(2);
  const Signal sent = cells[0], read = cells[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::int64_t at = (first + call) % slots;
      WaitStatus status = WaitStatus::ok;
      // The slot's last message was `slots` messages ago.
      if (fabric.thread() == 0 && call >= slots)
        status = fabric.wait(read, Compare::ge, call + 1 - slots);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      send(fabric, inbox, right_of(fabric), at, 7);
      fabric.converge();
      if (fabric.thread() == 0) {
        fabric.notify(sent, right_of(fabric), call + 1, NotifyOp::set);
        status = fabric.wait(sent, Compare::ge, call + 1);
        if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[at]);
        fabric.notify(read, left_of(fabric), call + 1, NotifyOp::set);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(slot_count_wraps, race, .ranks = 2, .calls = 6)

}  // namespace muster::broken::slot_count_wraps
