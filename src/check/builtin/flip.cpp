// FlipBarrier in each of its uses; it leaves its cells zero.
#include "muster/barrier/flip.hpp"

#include "check/builtin/barrier_bodies.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin::flip {

MUSTER_CHECK(flip_barrier,
             {.ranks = 3, .calls = 2, .about = "everything before is visible after"}) {
  const muster::FlipBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::full(team, lanes, calls, barrier);
}

MUSTER_CHECK(scoped,
             {.ranks = 3, .calls = 2, .group = "flip_barrier", .about = "the same in a loop"}) {
  const muster::FlipBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::scoped(team, lanes, calls, barrier);
}

MUSTER_CHECK(entry, {.ranks = 3,
                     .calls = 2,
                     .group = "flip_barrier",
                     .about = "earlier kernels' writes become visible"}) {
  const muster::FlipBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::entry(team, lanes, calls, barrier);
}

MUSTER_CHECK(exit, {.ranks = 3,
                    .calls = 2,
                    .group = "flip_barrier",
                    .about = "the peers have finished reading"}) {
  const muster::FlipBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::exit(team, lanes, calls, barrier);
}

MUSTER_CHECK(rendezvous, {.ranks = 3,
                          .calls = 2,
                          .group = "flip_barrier",
                          .about = "the lanes meet, no data"}) {
  const muster::FlipBarrier barrier(team);
  team.promise_zero(barrier.rows());
  builtin::rendezvous(team, lanes, calls, barrier);
}

MUSTER_CHECK(channel, {.ranks = 8,
                       .calls = 2,
                       .lanes = 32,
                       .group = "flip_barrier",
                       .about = "one lane, on the last channel of a pad of as many as lanes"}) {
  const muster::Rows pad = *team.rows(lanes);
  const muster::FlipBarrier barrier(pad, muster::PadChannel{lanes - 1});
  team.promise_zero(pad);
  builtin::full(team, 1, calls, barrier);
}

}  // namespace muster::check::builtin::flip
