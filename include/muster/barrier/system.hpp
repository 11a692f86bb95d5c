// SystemBarrier: all lanes of all ranks meet.
#pragma once

#include "muster/barrier/grid.hpp"
#include "muster/barrier/scope.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per lane and call, P ranks, L lanes: 2 rounds, P-1 notifies to peers and 1 to the own rank,
// P waits, 3 converges, 0 bytes. Where L is 1 it is an EpochBarrier: 1 round, P-1, P-1, 2.
//
// First each lane exchanges epochs with the same lane of every other rank, then the lanes of each
// rank meet as in GridBarrier. A lane that passes has heard from all lanes of its rank, each of
// which has heard from its like on every rank: from all lanes of all ranks. The other way round
// (meet, then one lane speaks for the rank, then release the others) has three steps in a chain
// instead of two and would need a flush, as that lane would speak for transfers that others made.
// Here each lane notifies every peer itself, so its release carries its transfers on every fabric.
//
// Order: the entry is the notify to the peers, with use.notify; the exit is both waits, with
// use.wait. The deposit in between is a release wherever the exit acquires, since it carries on
// what the exchange has acquired. So `full` orders everything before the barrier on any lane of any
// rank before everything after it on any other; `entry`, `exit` and `rendezvous` as for the others.
//
// Who advances: the calling lane, its two counters, after the waits; nobody resets anything. No
// deposit can be lost: one writer per cell of the exchange, adds only in the sum, both only grow
// and are compared wrap-safely. The number of lanes may differ from launch to launch, the same on
// all ranks in each; all of them are resident.
//
// After a wait that was not `ok` a lane whose exchange failed has not met the others of its rank:
// their waits fail too, and the barrier must not be used again. Make a new one on the team that
// shrink() returns.
class SystemBarrier {
 public:
  struct State {
    Epoch epoch;
    std::uint32_t sum = 0;
  };
  struct [[nodiscard]] Arrival {
    State state;
    BarrierUse use;
  };

  SystemBarrier() = default;
  template <SetUp T>
  explicit SystemBarrier(T& team) : rows_(*team.rows()), grid_(team) {}
  MUSTER_FN constexpr SystemBarrier(Rows exchange, Rows grid) : rows_(exchange), grid_(grid) {}

  // Called by all threads of the lane. What the lane wrote before is deposited for every peer.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    describe(fabric, Call{"SystemBarrier", {rows_.first.cell, 0}});
    State last = begin(fabric);
    return announce(fabric, last, use);
  }

  // Called by all threads of the lane, once per arrival; the same status to all.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    const WaitStatus status = await(fabric, arrival);
    keep(fabric, arrival.state);
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    return wait(fabric, arrive(fabric, use));
  }

  // For loops: body(scope), see BarrierScope. Returns the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full) const {
    BarrierScope<SystemBarrier, F> scope(*this, fabric, use);
    body(scope);
    return scope.end();
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }
  [[nodiscard]] MUSTER_FN Rows grid_rows() const { return grid_.rows(); }

 private:
  template <class Barrier, Fabric F>
  friend class BarrierScope;

  template <Fabric F>
  MUSTER_FN State begin(F& fabric) const {
    return State{Epoch{fabric.counter(rows_.epoch(fabric.lane()))}, grid_.begin(fabric)};
  }

  template <Fabric F>
  MUSTER_FN Arrival announce(F& fabric, State& state, BarrierUse use) const {
    state.epoch = state.epoch.next();
    // The notifying thread speaks for what all threads wrote; and all have read the counters.
    fabric.converge();
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the wait of the peer's same lane.
      fabric.notify(mine, peer, state.epoch.value, NotifyOp::set, use.notify);
    });
    state.sum = GridBarrier::after(fabric, state.sum);
    return Arrival{state, use};
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, Arrival arrival) const {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      status = worst(status,
                     fabric.wait(theirs, Compare::ge, arrival.state.epoch.value, arrival.use.wait));
    });
    if (fabric.lanes() == 1) return status;
    status = fabric.converge(status);  // thread 0 speaks for what all threads have acquired
    // A lane that has not heard from everybody must not say so.
    if (status != WaitStatus::ok) return status;
    const bool acquires = arrival.use.wait == Order::acquire;
    grid_.deposit(fabric, acquires ? Order::release : arrival.use.notify);
    return grid_.await(fabric, {arrival.state.sum, arrival.use});
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, State state) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), state.epoch.value);
    grid_.keep(fabric, state.sum);
  }

  Rows rows_;
  GridBarrier grid_;
};

}  // namespace muster
