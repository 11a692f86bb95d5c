// Messages through one slot, from each rank to its right neighbour, which answers when it has read.
// A relaxed answer keeps the reads before the next message (contract 5), but not the last message
// before it: two transfers to the same place, which nothing has ordered for the sender. The answer
// must be a release, and acquired. Round a ring of few ranks the messages themselves bring the
// order back, so a ring of four shows nothing; here nothing comes back.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::slot_answer_relaxed {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto slot = *team.window<int>({1}, "slot");
  const Signals told = *team.signals(2);
  const Signal full = told[0];
  const Signal read = told[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const bool sends = fabric.rank().value == 0;
    const bool receives = fabric.rank().value == 1;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (sends) {
        if (fabric.thread() == 0)
          status =
              fabric.wait(read, Compare::ge, call - 1, fixed ? Order::acquire : Order::relaxed);
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        send(fabric, slot, right_of(fabric), 0, static_cast<int>(call));
        fabric.converge();
        if (fabric.thread() == 0) fabric.notify(full, right_of(fabric), call, NotifyOp::set);
      }
      if (receives) {
        if (fabric.thread() == 0) status = fabric.wait(full, Compare::ge, call);
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        expect(fabric, fetch(fabric, slot, fabric.rank(), 0) <= static_cast<int>(call),
               "the message");
        fabric.converge();
        if (fabric.thread() == 0)
          fabric.notify(read, left_of(fabric), call, NotifyOp::set,
                        fixed ? Order::release : Order::relaxed);
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(slot_answer_relaxed, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::slot_answer_relaxed
