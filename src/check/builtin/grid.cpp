// GridBarrier in each of its uses: the lanes of one rank.
#include "muster/barrier/grid.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::grid {

MUSTER_CHECK(grid_barrier,
             {.ranks = 2, .calls = 2, .lanes = 3, .about = "everything before is visible after"}) {
  const muster::GridBarrier barrier(team);
  builtin::full(team, lanes, calls, barrier, BarrierScope::rank);
}

MUSTER_CHECK(scoped, {.ranks = 2,
                      .calls = 2,
                      .lanes = 3,
                      .group = "grid_barrier",
                      .about = "the same in a loop, state in registers"}) {
  const muster::GridBarrier barrier(team);
  builtin::scoped(team, lanes, calls, barrier, BarrierScope::rank);
}

MUSTER_CHECK(entry, {.ranks = 2,
                     .calls = 2,
                     .lanes = 3,
                     .group = "grid_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::GridBarrier barrier(team);
  builtin::entry(team, lanes, calls, barrier, BarrierScope::rank);
}

MUSTER_CHECK(exit, {.ranks = 2,
                    .calls = 2,
                    .lanes = 3,
                    .group = "grid_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::GridBarrier barrier(team);
  builtin::exit(team, lanes, calls, barrier, BarrierScope::rank);
}

MUSTER_CHECK(rendezvous, {.ranks = 2,
                          .calls = 2,
                          .lanes = 3,
                          .group = "grid_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::GridBarrier barrier(team);
  builtin::rendezvous(team, lanes, calls, barrier, BarrierScope::rank);
}

}  // namespace muster::check::builtin::grid
