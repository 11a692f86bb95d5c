// An all_gather with credits, of which some calls are empty on all ranks: there is nothing to move,
// so they return early. Here they do that after they have told the peers: nobody takes these
// credits back, and the wait of the next call takes them for its own. Every early return comes
// before any notify.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::early_return_after_notify {
namespace {

// +1 all.
template <class F>
void tell(F& fabric, Rows rows) {
  fabric.converge();
  for_each_peer(fabric, [&](Rank peer) {
    fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, 1, NotifyOp::add);
  });
}

// ge 1 all, and takes them back.
template <class F>
WaitStatus hear(F& fabric, Rows rows) {
  WaitStatus status = WaitStatus::ok;
  for_each_peer(fabric, [&](Rank peer) {
    const Signal theirs = rows.from(fabric.lane(), peer);
    const WaitStatus one = fabric.wait(theirs, Compare::ge, 1);
    if (one == WaitStatus::ok)
      fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
    status = worst(status, one);
  });
  return fabric.converge(status);
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto shown = *team.window<int>({1}, "shown");
  const Rows written = *team.rows();
  const Rows read = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const bool is_empty = call % 2 == 1;
      if (fixed && is_empty) continue;
      if (!is_empty && fabric.thread() == 0) fabric.local(shown)[0] = static_cast<int>(call);
      tell(fabric, written);
      if (is_empty) continue;
      if (hear(fabric, written) != WaitStatus::ok) return WaitStatus::aborted;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        (void)fetch(fabric, shown, right_of(fabric, step), 0);
      tell(fabric, read);
      if (hear(fabric, read) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(early_return_after_notify, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::early_return_after_notify
