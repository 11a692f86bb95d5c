// CounterBarrier in each of its uses.
#include "muster/barrier/counter.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::counter {

MUSTER_CHECK(counter_barrier,
             {.ranks = 3, .calls = 2, .about = "everything before is visible after"}) {
  const muster::CounterBarrier barrier(team);
  builtin::full(team, lanes, calls, barrier);
}

MUSTER_CHECK(scoped, {.ranks = 3,
                      .calls = 2,
                      .group = "counter_barrier",
                      .about = "the same in a loop, state in registers"}) {
  const muster::CounterBarrier barrier(team);
  builtin::scoped(team, lanes, calls, barrier);
}

MUSTER_CHECK(entry, {.ranks = 3,
                     .calls = 2,
                     .group = "counter_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::CounterBarrier barrier(team);
  builtin::entry(team, lanes, calls, barrier);
}

MUSTER_CHECK(exit, {.ranks = 3,
                    .calls = 2,
                    .group = "counter_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::CounterBarrier barrier(team);
  builtin::exit(team, lanes, calls, barrier);
}

MUSTER_CHECK(rendezvous, {.ranks = 3,
                          .calls = 2,
                          .group = "counter_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::CounterBarrier barrier(team);
  builtin::rendezvous(team, lanes, calls, barrier);
}

}  // namespace muster::check::builtin::counter
