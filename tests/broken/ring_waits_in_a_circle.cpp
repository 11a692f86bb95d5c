// A ring in steps: in each a rank takes some messages from the left and sends as many to the right,
// each before it gives the slot of the one it took free. With as many messages a step as there are
// slots, every rank waits for the slot that its neighbour gives free only after it has sent, all
// the way round. One message less breaks the circle.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::ring_waits_in_a_circle {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t slots = 2;
  constexpr std::uint32_t messages = fixed ? slots - 1 : slots;
  const auto inbox = *team.window<int>({slots}, "inbox");
  const Signals told = *team.signals(2);
  const Signal full = told[0];
  const Signal free = told[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    std::uint32_t sent = 0;
    std::uint32_t taken = 0;
    for (std::uint32_t step = 0; step <= calls; ++step) {
      for (std::uint32_t message = 0; message < messages; ++message) {
        WaitStatus status = WaitStatus::ok;
        if (step > 0) {
          ++taken;
          if (fabric.thread() == 0) status = fabric.wait(full, Compare::ge, taken);
          if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
          (void)fetch(fabric, inbox, fabric.rank(), taken % slots);
        }
        if (step < calls) {
          ++sent;
          if (fabric.thread() == 0) status = fabric.wait(free, Compare::ge, sent - slots);
          if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
          send(fabric, inbox, right_of(fabric), sent % slots, static_cast<int>(sent));
        }
        fabric.converge();
        if (fabric.thread() == 0) {
          if (step > 0) fabric.notify(free, left_of(fabric), taken, NotifyOp::set);
          if (step < calls) fabric.notify(full, right_of(fabric), sent, NotifyOp::set);
        }
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_waits_in_a_circle, deadlock, .ranks = 3, .calls = 3)

}  // namespace muster::broken::ring_waits_in_a_circle
