// A barrier over rows of one cell for each writer, in which a rank notifies the cell of the peer's
// number in place of its own: its column instead of its row. Nobody ever writes what is waited for.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::own_column_notified {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto data = *team.window<int>({calls}, "data");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      send(fabric, data, right_of(fabric), call, 7);
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          const Rank writer = fixed ? fabric.rank() : peer;
          fabric.notify(rows.from(fabric.lane(), writer), peer, call + 1, NotifyOp::set);
        });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          all = worst(all, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, call + 1));
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
      if (fabric.thread() == 0) (void)static_cast<int>(fabric.local(data)[call]);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(own_column_notified, deadlock, .ranks = 2, .calls = 1)

}  // namespace muster::broken::own_column_notified
