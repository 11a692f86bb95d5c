// SystemBarrier: all lanes of all ranks meet.
#pragma once

#include "muster/barrier/exchange.hpp"
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
// After a wait that was not `ok` the lane must not call the barrier again: one whose exchange
// failed has not met the others of its rank, whose waits fail too, and in their sum a second
// deposit could stand for one that was not made (see CounterBarrier). The next call deposits
// nothing and returns `refused`, in later launches too; make a new barrier.
class SystemBarrier {
 public:
  struct [[nodiscard]] Arrival {
    Epoch epoch;
    std::uint32_t sum;
    bool refused;
    BarrierUse use;
  };

  SystemBarrier() = default;
  template <SetUp T>
  explicit SystemBarrier(T& team) : exchange_(*team.rows()), grid_(team) {}
  MUSTER_FN constexpr SystemBarrier(Rows exchange, Rows grid) : exchange_(exchange), grid_(grid) {}

  // Called by all threads of the lane. What the lane wrote before is deposited for every peer.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    tell(fabric);
    State<F> state = begin(fabric);
    const bool refused = BarrierSteps::arrive(*this, fabric, state, use);
    return Arrival{state.exchange.epoch, state.grid.sum, refused, use};
  }

  // Called by all threads of the lane, once per arrival; the same status to all.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const State<F> state{exchange_.at(fabric, arrival.epoch), grid_.at(fabric, arrival.sum)};
    return BarrierSteps::wait(*this, fabric, state, arrival.use, arrival.refused);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    tell(fabric);
    return BarrierSteps::sync(*this, fabric, use);
  }

  // For loops: body(scope), see BarrierScope. Returns the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full,
                              CallSite<F> site = {}) const {
    return BarrierSteps::scoped(*this, fabric, body, use, site);
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.rows(); }
  [[nodiscard]] MUSTER_FN Rows grid_rows() const { return grid_.rows(); }

 private:
  friend struct BarrierSteps;
  template <class Barrier, Fabric F>
  friend class BarrierScope;
  static constexpr bool survives = false;

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return rows().refusal(fabric.lane());
  }

  template <Fabric F>
  struct State {
    EpochExchange::State<F> exchange;
    GridBarrier::State<F> grid;
  };

  template <Fabric F>
  MUSTER_FN void tell(F& fabric) const {
    describe(fabric, CallSignature{"SystemBarrier", {rows().first.cell, 0}, {}, fabric.lanes()});
  }

  template <Fabric F>
  MUSTER_FN State<F> begin(F& fabric) const {
    return {exchange_.at(fabric, exchange_.last(fabric)), grid_.begin(fabric)};
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& state, BarrierUse use) const {
    state.exchange.epoch = state.exchange.epoch.next();
    state.grid.sum += state.grid.lanes;
    // The notifying thread speaks for what all threads wrote; and all have read the counters.
    fabric.converge();
    // Pairs with the wait of the peer's same lane.
    exchange_.announce(fabric, state.exchange, use.notify);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, BarrierUse use) const {
    // Thread 0 speaks below for what all threads have acquired here.
    const WaitStatus status = exchange_.await(fabric, state.exchange, use.wait);
    if (!state.grid.meets()) return status;
    // A lane that has not heard from everybody must not say so. It meets all the same, as often as
    // one that has.
    if (status != WaitStatus::ok) return fabric.converge(status);
    GridBarrier::deposit(fabric, state.grid,
                         use.wait == Order::acquire ? Order::release : use.notify);
    return grid_.await(fabric, state.grid, use);
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, const State<F>& state) const {
    exchange_.keep(fabric, state.exchange.epoch);
    grid_.keep(fabric, state.grid);
  }

  EpochExchange exchange_;
  GridBarrier grid_;
};

}  // namespace muster
