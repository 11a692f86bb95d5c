// GridBarrier: the lanes of one rank meet. Other ranks take no part.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/target.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"

namespace muster {

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

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;
  friend class SystemBarrier;

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return rows_.refusal(fabric.lane());
  }

  template <Fabric F>
  struct State {
    std::uint32_t sum;  // that is waited for
    Target<F> shared;
    std::uint32_t lanes;  // 0 where nobody is to be met; the same to all threads

    [[nodiscard]] MUSTER_FN bool meets() const { return lanes != 0; }
  };

  // Ranks do not meet here, so none compares its calls with another's.
  template <Fabric F>
  MUSTER_FN static void tell(F& /*fabric*/) {}

  template <Fabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t last(F& fabric) const {
    return fabric.counter(rows_.epoch(fabric.lane()));
  }
  template <class State>
  [[nodiscard]] MUSTER_FN static std::uint32_t count(const State& state) {
    return state.sum;
  }

  // The first cell of the rows is the sum.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, std::uint32_t sum) const {
    const Target<F> shared(fabric, rows_.from(Lane{0}, Rank{0}), fabric.rank());
    return {sum, shared, opaque(fabric.lanes() > 1 ? fabric.lanes() : 0)};
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& state, BarrierUse use) const {
    state.sum += state.lanes;
    fabric.converge();  // all threads have read the sum; the notifying one speaks for all
    if (fabric.profile() < Profile::direct) fabric.flush();
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

}  // namespace muster
