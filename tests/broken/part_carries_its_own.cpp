// One part of a lane puts, all threads of the lane meet, and the other part tells the peer. A
// release carries what its own part has put, and what that has acquired: a put of another part that
// is under way is neither. The part that puts must flush.
//
// The checker must say: race (on rdma).
#include "broken.hpp"

namespace muster::broken::part_carries_its_own {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const auto outbox = *team.window<int>({2}, "outbox");
  const Signal ready = (*team.signals(1))[0];
  using Half = Threads<1>;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    WaitStatus status = WaitStatus::ok;
    fabric.local(outbox)[fabric.thread()] = 7;
    fabric.converge();
    if (fabric.template in_part<Half>(0)) {
      auto part = fabric.template part<Half>(0);
      part.put(inbox, right, 0, outbox, 0, 2);
      if (fixed) status = part.flush();
    }
    status = fabric.converge(status);
    if (fabric.template in_part<Half>(1)) {
      auto part = fabric.template part<Half>(1);
      part.notify(ready, right, 1, NotifyOp::set);
      status = worst(status, part.wait(ready, Compare::ge, 1));
    }
    status = fabric.converge(status);
    if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[fabric.thread()]);
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(part_carries_its_own, race, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::part_carries_its_own
