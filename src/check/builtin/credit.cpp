// CreditBarrier in each of its uses; it leaves its cells zero.
#include "muster/barrier/credit.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::credit {

MUSTER_CHECK(credit_barrier,
             {.ranks = 3, .calls = 2, .about = "everything before is visible after"}) {
  const muster::CreditBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::full(team, lanes, calls, barrier);
}

MUSTER_CHECK(scoped,
             {.ranks = 3, .calls = 2, .group = "credit_barrier", .about = "the same in a loop"}) {
  const muster::CreditBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::scoped(team, lanes, calls, barrier);
}

MUSTER_CHECK(entry, {.ranks = 3,
                     .calls = 2,
                     .group = "credit_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::CreditBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::entry(team, lanes, calls, barrier);
}

MUSTER_CHECK(exit, {.ranks = 3,
                    .calls = 2,
                    .group = "credit_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::CreditBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::exit(team, lanes, calls, barrier);
}

MUSTER_CHECK(rendezvous, {.ranks = 3,
                          .calls = 2,
                          .group = "credit_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::CreditBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::rendezvous(team, lanes, calls, barrier);
}

}  // namespace muster::check::builtin::credit
