// GridBarrier: the lanes of one rank meet, or some produce and others consume. Other ranks take no
// part.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/target.hpp"
#include "muster/barrier/use.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"

namespace muster {

class GridArrivals;

// Cost per lane and call, L lanes: 1 round, 1 notify to the own rank and 1 wait, at device scope; 0
// of both where L is 1; 0 bytes; one flush where the fabric is not `direct`.
//
// All lanes that run call it, equally often, and all must be resident at once: on a GPU a
// cooperative launch, on a host the lanes of one team.lanes().
//
// Who advances: nobody resets anything. Each lane adds 1 to one shared cell, whose sum only grows
// and is compared wrap-safely; zero is ready. There is no last lane with a duty, so none that could
// be too late for the next call. Each lane keeps the sum that it last waited for in its own
// counter. No deposit can be lost: all are adds. A fast lane's second deposit may stand for a slow
// lane's first: the fast one has left the first call, so it has heard of everybody, and its release
// carries that.
//
// The number of lanes may differ from launch to launch: the running lanes move the counters of
// those that do not run (up to the most that the rows were made for), so that these find the sum
// when they next do. The end of a launch and the start of the next order that (contract 10).
//
// What a lane has transferred to other ranks is not carried by a deposit to the own rank: arrive
// flushes first, unless the fabric is `direct`.
//
// After a wait that was not `ok` the lane must not call the barrier again: see CounterBarrier,
// which has the same sum. The next call deposits nothing and returns `refused`, in later launches
// too; the waits of the rank's other lanes fail then. Make a new barrier.
class GridBarrier : public Counting<GridBarrier, std::uint32_t, AfterFailure::refused> {
 public:
  GridBarrier() = default;
  template <SetUp T>
  explicit GridBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr GridBarrier(Rows rows) : rows_(rows) {}

  // The same rows, where a call is over once so many lanes of the rank have arrived, at least one:
  // with 0 every call is `invalid`. It takes the place of this one: not both are called.
  [[nodiscard]] MUSTER_FN constexpr GridArrivals expecting(std::uint32_t arrivals) const;

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;
  friend class SystemBarrier;
  friend class GridArrivals;

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return rows_.refusal(fabric.lane());
  }

  template <Fabric F>
  struct State {
    std::uint32_t sum;  // that is waited for
    Target<F> shared;
    std::uint32_t lanes;  // that arrive in a call; 0: nobody is to be met; the same to all threads

    [[nodiscard]] MUSTER_FN bool meets() const { return lanes != 0; }
  };

  // Ranks do not meet here, so none compares its calls with another's.
  template <Fabric F>
  MUSTER_FN static void tell(F& /*fabric*/, std::uint32_t /*sum*/) {}

  template <Fabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t last(F& fabric) const {
    return fabric.counter(rows_.epoch(fabric.lane()));
  }
  template <class State>
  [[nodiscard]] MUSTER_FN static std::uint32_t count(const State& state) {
    return state.sum;
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, std::uint32_t sum) const {
    return at(fabric, sum, fabric.lanes() > 1 ? fabric.lanes() : 0);
  }
  // The first cell of the rows is the sum.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, std::uint32_t sum, std::uint32_t lanes) const {
    const Target<F> shared(fabric, rows_.from(Lane{0}, Rank{0}), fabric.rank());
    return {sum, shared, opaque(lanes)};
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& state, BarrierUse use) const {
    state.sum += state.lanes;
    fabric.converge();  // all threads have read the sum; the notifying one speaks for all
    arrive_at(fabric, state, use);
  }

  template <Fabric F>
  MUSTER_FN static void arrive_at(F& fabric, const State<F>& state, BarrierUse use) {
    // A flush that fails fails the lane: its deposits are lost, and its waits tell.
    if (fabric.profile() < Profile::direct) (void)fabric.flush();
    deposit(fabric, state, use.notify);
  }

  // Pairs with the waits of the rank's lanes below.
  template <Fabric F>
  MUSTER_FN static void deposit(F& fabric, const State<F>& state, Order order) {
    if (fabric.thread() == 0 && state.meets() && state.shared.valid())
      state.shared.notify(fabric, 1, NotifyOp::add, order, Scope::device);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, BarrierUse use) const {
    if (!state.meets()) return fabric.converge(WaitStatus::ok);
    return state.shared.wait_converge(fabric, 1, Compare::ge, state.sum, use.wait, Scope::device);
  }

  // The own counter, and those of the lanes that do not run: one lane writes each.
  template <Fabric F>
  MUSTER_FN void keep(F& fabric, const State<F>& state) const {
    if (!state.meets()) return;
    const std::uint32_t lanes = fabric.lanes();
    for (std::uint32_t lane = fabric.lane().value + fabric.thread() * lanes; lane < rows_.lanes;
         lane += fabric.threads() * lanes)
      fabric.set_counter(rows_.epoch(Lane{lane}), state.sum);
  }

  Rows rows_;
};

// GridBarrier::expecting(n): a call is over once n lanes of the rank have arrived, whichever they
// are. So one lane may arrive without waiting, another wait without arriving:
//
//   const auto filled = GridBarrier(team).expecting(producers);
//   const auto emptied = GridBarrier(team).expecting(consumers);
//
//   a producer, in each turn                    a consumer, in each turn
//     ... writes what it has                      filled.wait(fabric)
//     filled.post(fabric)                         ... reads what all producers have written
//     emptied.wait(fabric, use::exit)             emptied.post(fabric, use::exit)
//
// A lane that takes part does so in every call, in all launches, in the order of the calls, once in
// each: it posts, or waits, or does both (sync, or arrive and wait). Exactly n lanes arrive in each
// call. All of them are resident; lanes that take no part need not be.
//
// Cost per lane and call: 1 notify to the own rank for who arrives, 1 wait for who waits, at device
// scope; one flush for who arrives where the fabric is not `direct`.
//
// Who advances: nobody resets anything. A lane that takes part counts n on, in its own counter, for
// each call. A call is over when the sum has reached n times its number: so WHO ARRIVES WITHOUT
// WAITING DOES NOT ARRIVE AGAIN BEFORE IT KNOWS THAT THE CALL IS OVER, by a wait of its own for
// this call, or from a lane that has waited for it (as above: the consumers have). Its second
// arrival would stand for a slow lane's first, and let through who waits for that
// (broken/grid_producer_runs_ahead). Producers that are to run ahead have a cell each, in signals
// of their own, which the consumers wait for one by one.
//
// After a wait that was not `ok` the lane must not call it again, nor post: see GridBarrier.
class GridArrivals : public Counting<GridArrivals, std::uint32_t, AfterFailure::refused> {
 public:
  GridArrivals() = default;
  MUSTER_FN constexpr GridArrivals(GridBarrier grid, std::uint32_t arrivals)
      : grid_(grid), arrivals_(arrivals) {}

  // Arrives without waiting; by all threads of the lane, as what follows. `ok`, or `refused`, the
  // same to all.
  template <Fabric F>
  MUSTER_FN WaitStatus post(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    auto state = begin(fabric);
    if (refuses(fabric)) [[unlikely]]
      return refusal_status(fabric);
    state.sum += state.lanes;
    fabric.converge();  // all threads have read the sum
    keep(fabric, state);
    fabric.converge();  // none reads it again before; and the notifying thread speaks for all
    grid_.arrive_at(fabric, state, use);
    return WaitStatus::ok;
  }

  using Counting::wait;  // for an arrival

  // Waits without arriving; the same status to all threads.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const OneCall call(fabric);
    auto state = begin(fabric);
    const bool refused = refuses(fabric);
    if (!refused) [[likely]] {
      state.sum += state.lanes;
      fabric.converge();  // all threads have read the sum
    }
    return leave(fabric, state, use, refused);
  }

  [[nodiscard]] MUSTER_FN std::uint32_t arrivals() const { return arrivals_; }
  [[nodiscard]] MUSTER_FN Rows rows() const { return grid_.rows(); }

 private:
  friend Counting;
  template <Fabric F>
  using State = GridBarrier::State<F>;

  template <class F>
  [[nodiscard]] MUSTER_FN bool fits(F& fabric) const {
    expect(fabric, arrivals_ != 0, "GridBarrier::expecting: at least one lane arrives");
    return arrivals_ != 0;
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return grid_.refusal(fabric);
  }

  template <Fabric F>
  MUSTER_FN static void tell(F& /*fabric*/, std::uint32_t /*sum*/) {}

  template <Fabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t last(F& fabric) const {
    return grid_.last(fabric);
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, std::uint32_t sum) const {
    return grid_.at(fabric, sum, arrivals_);
  }
  template <class State>
  [[nodiscard]] MUSTER_FN static std::uint32_t count(const State& state) {
    return state.sum;
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& state, BarrierUse use) const {
    grid_.announce(fabric, state, use);
  }
  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, BarrierUse use) const {
    return grid_.await(fabric, state, use);
  }
  // Lanes that do not run take no part in any call.
  template <Fabric F>
  MUSTER_FN void keep(F& fabric, const State<F>& state) const {
    if (fabric.thread() == 0) fabric.set_counter(rows().epoch(fabric.lane()), state.sum);
  }

  GridBarrier grid_;
  std::uint32_t arrivals_ = 1;
};

MUSTER_FN constexpr GridArrivals GridBarrier::expecting(std::uint32_t arrivals) const {
  return {*this, arrivals};
}

}  // namespace muster
