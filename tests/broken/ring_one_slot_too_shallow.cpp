// A pipeline of chunks around a ring. A sender may be `ahead` chunks ahead of what its right
// neighbour has acknowledged, but the ring of slots there is one shallower, so that the last of
// them is written over one that has not been read. The chunks are as many as the calls.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::ring_one_slot_too_shallow {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t ahead = 3;
  constexpr std::uint32_t slots = fixed ? ahead : ahead - 1;
  const auto inbox = *team.window<int>({slots}, "inbox");
  const Signals told = *team.signals(2);
  const Signal full = told[0];
  const Signal read = told[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    // The first chunks leave before anything is received.
    for (std::uint32_t step = 0; step < calls + ahead; ++step) {
      const std::uint32_t back = step - ahead;
      WaitStatus status = WaitStatus::ok;
      if (step >= ahead && fabric.thread() == 0) {
        status = fabric.wait(full, Compare::ge, back + 1);
        if (status == WaitStatus::ok)
          expect(fabric, fabric.local(inbox)[back % slots] == static_cast<int>(back), "the chunk");
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      if (step >= ahead && fabric.thread() == 0)
        fabric.notify(read, left_of(fabric), 1, NotifyOp::add);
      if (step >= calls) continue;
      if (step >= ahead && fabric.thread() == 0) status = fabric.wait(read, Compare::ge, back + 1);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      send(fabric, inbox, right_of(fabric), step % slots, static_cast<int>(step));
      fabric.converge();
      if (fabric.thread() == 0) fabric.notify(full, right_of(fabric), 1, NotifyOp::add);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_one_slot_too_shallow, race, .ranks = 2, .calls = 4)

}  // namespace muster::broken::ring_one_slot_too_shallow
