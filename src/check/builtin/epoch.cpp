// EpochBarrier in each of its uses.
#include "muster/barrier/epoch.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::epoch {

MUSTER_CHECK(epoch_barrier,
             {.ranks = 3, .calls = 2, .about = "everything before is visible after"}) {
  const muster::EpochBarrier barrier(team);
  builtin::full(team, lanes, calls, barrier);
}

MUSTER_CHECK(scoped, {.ranks = 3,
                      .calls = 2,
                      .group = "epoch_barrier",
                      .about = "the same in a loop, state in registers"}) {
  const muster::EpochBarrier barrier(team);
  builtin::scoped(team, lanes, calls, barrier);
}

MUSTER_CHECK(entry, {.ranks = 3,
                     .calls = 2,
                     .group = "epoch_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::EpochBarrier barrier(team);
  builtin::entry(team, lanes, calls, barrier);
}

MUSTER_CHECK(exit, {.ranks = 3,
                    .calls = 2,
                    .group = "epoch_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::EpochBarrier barrier(team);
  builtin::exit(team, lanes, calls, barrier);
}

MUSTER_CHECK(rendezvous, {.ranks = 3,
                          .calls = 2,
                          .group = "epoch_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::EpochBarrier barrier(team);
  builtin::rendezvous(team, lanes, calls, barrier);
}

}  // namespace muster::check::builtin::epoch
