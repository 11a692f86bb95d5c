// SystemBarrier: all lanes of all ranks meet.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/exchange.hpp"
#include "muster/barrier/grid.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Of a call: the epoch of its exchange, and the sum where the lanes of the rank meet.
struct SystemCount {
  Epoch epoch;
  std::uint32_t sum;
};

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
class SystemBarrier : public Counting<SystemBarrier, SystemCount, AfterFailure::refused> {
 public:
  SystemBarrier() = default;
  template <SetUp T>
  explicit SystemBarrier(T& team) : exchange_(*team.rows()), grid_(team) {}
  MUSTER_FN constexpr SystemBarrier(Rows exchange, Rows grid) : exchange_(exchange), grid_(grid) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.rows(); }
  [[nodiscard]] MUSTER_FN Rows grid_rows() const { return grid_.rows(); }

 private:
  friend Counting;

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
  MUSTER_FN void tell(F& fabric, SystemCount last) const {
    describe(fabric, CallSignature{.name = "SystemBarrier",
                                   .detail = {rows().first.cell, 0},
                                   .lanes = fabric.lanes(),
                                   .number = last.epoch.next().value});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN SystemCount last(F& fabric) const {
    return {exchange_.last(fabric), grid_.last(fabric)};
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, SystemCount count) const {
    return {exchange_.at(fabric, count.epoch), grid_.at(fabric, count.sum)};
  }
  template <class State>
  [[nodiscard]] MUSTER_FN static SystemCount count(const State& state) {
    return {state.exchange.epoch, state.grid.sum};
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
