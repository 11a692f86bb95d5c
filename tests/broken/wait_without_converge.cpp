// Thread 0 of the lane waits, the others read what was waited for without a converge in between:
// they have waited for nothing, and acquired nothing.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::wait_without_converge {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    send(fabric, inbox, right_of(fabric), 1, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(ready, right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(ready, Compare::ge, 1);
    }
    if (fixed) status = fabric.converge(status);
    if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[fabric.thread()]);
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(wait_without_converge, race, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::wait_without_converge
