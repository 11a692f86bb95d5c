// An all_gather that pushes its part to everybody and tells them, called twice on one target
// without a barrier at its entry: a fast rank's second part arrives while a slow one still reads
// the first.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::push_all_gather_twice {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto parts = *team.window<int>({team.size()}, "parts");
  const Rows rows = *team.rows();
  const EpochBarrier entry(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t own = fabric.rank().value;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      // In full: also the own last transfers to the same places must have landed.
      if (fixed && entry.sync(fabric) != WaitStatus::ok) return WaitStatus::aborted;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        send(fabric, parts, Rank{(own + step) % fabric.size()}, own, static_cast<int>(call));
      fabric.converge();
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, call, NotifyOp::set);
      });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, call));
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      for_each_peer(fabric, [&](Rank peer) {
        const int part = fabric.local(parts)[peer.value];
        expect(fabric, part == static_cast<int>(call), "this call's part");
      });
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(push_all_gather_twice, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::push_all_gather_twice
