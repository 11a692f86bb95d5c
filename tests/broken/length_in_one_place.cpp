// Messages of different lengths from rank 0 to rank 1, through two slots in turn. The length of a
// message is written into one word beside the slots: the sender may be a message ahead, and writes
// the next length while the receiver still reads the last one. Each slot needs a length of its own.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::length_in_one_place {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t slots = 2;
  const auto inbox = *team.window<int>({slots}, "inbox");
  const auto lengths = *team.window<int>({slots}, "lengths");
  const Rows filled = *team.rows();
  const Rows freed = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank sender{0};
    const Rank receiver{1};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const std::int64_t slot = call % slots;
      const std::int64_t length = fixed ? slot : 0;
      WaitStatus status = WaitStatus::ok;
      if (fabric.rank() == sender) {
        if (fabric.thread() == 0)
          status = fabric.wait(freed.from(fabric.lane(), receiver), Compare::ge, call - slots);
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        send(fabric, lengths, receiver, length, 1);
        send(fabric, inbox, receiver, slot, static_cast<int>(call));
        fabric.converge();
        if (fabric.thread() == 0)
          fabric.notify(filled.from(fabric.lane(), sender), receiver, call, NotifyOp::set);
      } else if (fabric.rank() == receiver) {
        if (fabric.thread() == 0) {
          status = fabric.wait(filled.from(fabric.lane(), sender), Compare::ge, call);
          if (status == WaitStatus::ok && fabric.local(lengths)[length] == 1)
            expect(fabric, fabric.local(inbox)[slot] == static_cast<int>(call), "the message");
        }
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        if (fabric.thread() == 0)
          fabric.notify(freed.from(fabric.lane(), receiver), sender, call, NotifyOp::set);
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(length_in_one_place, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::length_in_one_place
