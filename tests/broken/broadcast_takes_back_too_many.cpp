// A broadcast whose readers give the root a credit each. The root takes back one for every rank of
// the team, itself included, of which it never got one.
//
// The checker must say: credits. (Then deadlock.)
#include "broken.hpp"

namespace muster::broken::broadcast_takes_back_too_many {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows there = *team.rows();
  const Signal read = (*team.signals(1))[0];
  team.promise_zero(Signals{read, 1});
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank root{0};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fabric.rank() == root) {
        for (std::uint32_t p = 1; p < fabric.size(); ++p)
          send(fabric, inbox, Rank{p}, 0, static_cast<int>(call));
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(there.from(fabric.lane(), root), peer, call, NotifyOp::set);
        });
        if (fabric.thread() == 0) {
          const std::uint32_t readers = fabric.size() - 1;
          status = fabric.wait(read, Compare::ge, readers);
          const std::uint32_t taken = fixed ? readers : fabric.size();
          fabric.notify(read, root, ~taken + 1, NotifyOp::add, Order::relaxed);
        }
      } else if (fabric.thread() == 0) {
        status = fabric.wait(there.from(fabric.lane(), root), Compare::ge, call);
        if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[0]);
        fabric.notify(read, root, 1, NotifyOp::add);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(broadcast_takes_back_too_many, credits, .ranks = 2, .calls = 2)

}  // namespace muster::broken::broadcast_takes_back_too_many
