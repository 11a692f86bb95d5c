// Two lanes use the cells of lane 0, each adding and each waiting for its own call's sum. A deposit
// of the other lane counts for both.
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::two_lanes_on_one_row {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const Rows rows = *team.rows();
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const Lane lane = fixed ? fabric.lane() : Lane{0};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(rows.from(lane, fabric.rank()), peer, 1, NotifyOp::add);
        });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          all = worst(all, fabric.wait(rows.from(lane, peer), Compare::ge, call));
        });
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(two_lanes_on_one_row, stale_pass, .ranks = 2, .calls = 1, .lanes = 2)

}  // namespace muster::broken::two_lanes_on_one_row
