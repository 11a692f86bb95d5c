// A barrier that counts down: add 1 to the own cells, add -1 at the peers, wait until they are 0 or
// less. It needs a release before and an acquire after; here the wait is relaxed.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::countdown_without_exit_fence {
namespace {

// Adds 1 to the own cells and takes 1 at the peers; who finds a cell at 0 or below has been
// reached.
template <class F>
WaitStatus meet(F& fabric, Rows rows, Order notify, Order wait) {
  fabric.converge();
  const Signal mine = rows.from(fabric.lane(), fabric.rank());
  for_each_peer(fabric, [&](Rank peer) {
    fabric.notify(rows.from(fabric.lane(), peer), fabric.rank(), 1, NotifyOp::add, notify);
    fabric.notify(mine, peer, ~0U, NotifyOp::add, notify);
  });
  WaitStatus status = WaitStatus::ok;
  for_each_peer(fabric, [&](Rank peer) {
    const Signal theirs = rows.from(fabric.lane(), peer);
    status = worst(status, fabric.wait(theirs, Compare::le, 0, wait));
  });
  return fabric.converge(status);
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({1}, "mine");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Order notify = Order::release;
    const Order wait = fixed ? Order::acquire : Order::relaxed;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const int value = static_cast<int>(call);
      fabric.local(mine)[0] = value;
      WaitStatus status = barrier_call(fabric, [&] { return meet(fabric, rows, notify, wait); });
      if (status != WaitStatus::ok) return status;
      expect(fabric, fetch(fabric, mine, left_of(fabric), 0) == value, "the neighbour's");
      status = barrier_call(fabric, [&] { return meet(fabric, rows, notify, wait); });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(countdown_without_exit_fence, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::countdown_without_exit_fence
