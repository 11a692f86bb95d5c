// A grid barrier that counts up to the number of lanes and is never reset, used twice: TileScale's
// sync_barrier_gpu is for a single use. In the second call the count is there already.
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::grid_barrier_used_twice {
namespace {

// The lanes of one rank meet at one cell.
template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const Signal cell = (*team.signals(1))[0];
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(
          fabric,
          [&] {
            fabric.converge();
            WaitStatus one = WaitStatus::ok;
            if (fabric.thread() == 0) {
              fabric.notify(cell, fabric.rank(), 1, NotifyOp::add);
              one = fabric.wait(cell, Compare::ge, fixed ? (call + 1) * lanes : lanes);
            }
            return fabric.converge(one);
          },
          0, model::BarrierScope::rank);
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

// Ranks do not matter: the lanes of each rank meet among themselves.
MUSTER_BROKEN(grid_barrier_used_twice, stale_pass, .ranks = 1, .calls = 2, .lanes = 2)

}  // namespace muster::broken::grid_barrier_used_twice
