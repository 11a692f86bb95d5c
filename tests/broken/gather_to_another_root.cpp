// A gather: every rank writes its number into its own memory and tells the root, which reads it.
// The next call has another root, and whoever has told the first one goes on to that: a fast rank
// writes its next number while the first root still reads. Nobody may end a call before its root
// has answered.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::gather_to_another_root {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({1}, "mine");
  const Rows shown = *team.rows();
  const Rows read = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const Rank root{(call - 1) % fabric.size()};
      WaitStatus status = WaitStatus::ok;
      if (fabric.rank() != root) {
        if (fabric.thread() == 0) fabric.local(mine)[0] = static_cast<int>(call);
        fabric.converge();
        if (fabric.thread() == 0) {
          fabric.notify(shown.from(fabric.lane(), fabric.rank()), root, call, NotifyOp::set);
          if (fixed)
            status = fabric.wait(read.from(fabric.lane(), root), Compare::ge, call, Order::relaxed);
        }
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        continue;
      }
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(shown.from(fabric.lane(), peer), Compare::ge, call));
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        (void)fetch(fabric, mine, right_of(fabric, step), 0);
      fabric.converge();
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(read.from(fabric.lane(), root), peer, call, NotifyOp::set, Order::relaxed);
      });
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(gather_to_another_root, race, .ranks = 3, .calls = 2)

}  // namespace muster::broken::gather_to_another_root
