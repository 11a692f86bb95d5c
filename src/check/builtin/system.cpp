// SystemBarrier in each of its uses: all lanes of all ranks.
#include "muster/barrier/system.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::system {

MUSTER_CHECK(system_barrier,
             {.ranks = 3, .calls = 2, .lanes = 2, .about = "everything before is visible after"}) {
  const muster::SystemBarrier barrier(team);
  builtin::full(team, lanes, calls, barrier, BarrierScope::team);
}

MUSTER_CHECK(scoped, {.ranks = 3,
                      .calls = 2,
                      .lanes = 2,
                      .group = "system_barrier",
                      .about = "the same in a loop, state in registers"}) {
  const muster::SystemBarrier barrier(team);
  builtin::scoped(team, lanes, calls, barrier, BarrierScope::team);
}

MUSTER_CHECK(entry, {.ranks = 3,
                     .calls = 2,
                     .lanes = 2,
                     .group = "system_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::SystemBarrier barrier(team);
  builtin::entry(team, lanes, calls, barrier, BarrierScope::team);
}

MUSTER_CHECK(exit, {.ranks = 3,
                    .calls = 2,
                    .lanes = 2,
                    .group = "system_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::SystemBarrier barrier(team);
  builtin::exit(team, lanes, calls, barrier, BarrierScope::team);
}

MUSTER_CHECK(rendezvous, {.ranks = 3,
                          .calls = 2,
                          .lanes = 2,
                          .group = "system_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::SystemBarrier barrier(team);
  builtin::rendezvous(team, lanes, calls, barrier, BarrierScope::team);
}

}  // namespace muster::check::builtin::system
