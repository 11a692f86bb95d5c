// Packets: a slot is a target whose payload travels with its flag. The sender uses the slot for the
// second packet without having heard that the first was read.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::slot_overwritten {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto slot = *team.window<int>({1}, "slot");
  const auto mine = *team.window<int>({1}, "source");
  const Signals cells = *team.signals(2);
  const Signal flag = cells[0], read = cells[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fixed && fabric.thread() == 0) status = fabric.wait(read, Compare::ge, call - 1);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      fabric.put_signal(slot, right_of(fabric), 0, mine, 0, 1, flag, call, NotifyOp::set);
      if (fabric.thread() == 0) {
        status = fabric.wait(flag, Compare::eq, call);
        if (status == WaitStatus::ok) expect(fabric, fabric.local(slot)[0] == 0, "the packet");
        fabric.notify(read, left_of(fabric), call, NotifyOp::set);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(slot_overwritten, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::slot_overwritten
