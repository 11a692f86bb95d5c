// A grid barrier whose cell is initialised by lane 0 of the kernel that uses it: TileScale's
// init_barrier_gpu. Nothing orders the initialisation before another lane's arrival; an arrival
// that it wipes is waited for for ever.
//
// The checker must say: clobber. (And, where the set wins, everybody waits: deadlock.)
#include "broken.hpp"

namespace muster::broken::grid_barrier_init_in_kernel {
namespace {

// The lanes of one rank meet at one cell.
template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const Signal cell = (*team.signals(1))[0];
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    if (!fixed && fabric.lane().value == 0 && fabric.thread() == 0)
      fabric.notify(cell, fabric.rank(), 0, NotifyOp::set);
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = barrier_call(
          fabric,
          [&] {
            fabric.converge();
            WaitStatus one = WaitStatus::ok;
            if (fabric.thread() == 0) {
              fabric.notify(cell, fabric.rank(), 1, NotifyOp::add);
              one = fabric.wait(cell, Compare::ge, (call + 1) * lanes);
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

MUSTER_BROKEN(grid_barrier_init_in_kernel, clobber, .ranks = 1, .calls = 1, .lanes = 2)

}  // namespace muster::broken::grid_barrier_init_in_kernel
