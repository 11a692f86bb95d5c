// GridBarrier: the lanes of one rank meet. Other ranks take no part.
#pragma once

#include "muster/barrier/scope.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

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
// After a wait that was not `ok` the sum is advanced all the same; the call has ordered nothing.
class GridBarrier {
 public:
  struct [[nodiscard]] Arrival {
    std::uint32_t sum;
    BarrierUse use;
  };
  using State = std::uint32_t;

  GridBarrier() = default;
  template <SetUp T>
  explicit GridBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr GridBarrier(Rows rows) : rows_(rows) {}

  // Called by all threads of the lane.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    State sum = begin(fabric);
    return announce(fabric, sum, use);
  }

  // Called by all threads of the lane, once per arrival; the same status to all.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    const WaitStatus status = await(fabric, arrival);
    keep(fabric, arrival.sum);
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    return wait(fabric, arrive(fabric, use));
  }

  // For loops: body(scope), see BarrierScope. Returns the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full) const {
    BarrierScope<GridBarrier, F> scope(*this, fabric, use);
    body(scope);
    return scope.end();
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  template <class Barrier, Fabric F>
  friend class BarrierScope;
  friend class SystemBarrier;

  template <Fabric F>
  MUSTER_FN State begin(F& fabric) const {
    return fabric.counter(rows_.epoch(fabric.lane()));
  }

  template <Fabric F>
  MUSTER_FN Arrival announce(F& fabric, State& sum, BarrierUse use) const {
    fabric.converge();  // all threads have read the sum; the notifying one speaks for all
    if (fabric.profile() < Profile::direct) fabric.flush();
    deposit(fabric, use.notify);
    sum = after(fabric, sum);
    return Arrival{sum, use};
  }

  // What the sum is once all lanes have deposited once more.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static State after(const F& fabric, State sum) {
    return fabric.lanes() == 1 ? sum : sum + fabric.lanes();
  }

  // Pairs with the waits of the rank's lanes below.
  template <Fabric F>
  MUSTER_FN void deposit(F& fabric, Order order) const {
    if (fabric.thread() == 0 && fabric.lanes() > 1)
      fabric.notify(shared(), fabric.rank(), 1, NotifyOp::add, order, Scope::device);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, Arrival arrival) const {
    if (fabric.thread() != 0 || fabric.lanes() == 1) return WaitStatus::ok;
    return fabric.wait(shared(), Compare::ge, arrival.sum, arrival.use.wait, Scope::device);
  }

  // The own counter, and those of the lanes that do not run: one lane writes each.
  template <Fabric F>
  MUSTER_FN void keep(F& fabric, State sum) const {
    const std::uint32_t lanes = fabric.lanes();
    if (lanes == 1) return;
    for (std::uint32_t lane = fabric.lane().value + fabric.thread() * lanes; lane < rows_.lanes;
         lane += fabric.threads() * lanes)
      fabric.set_counter(rows_.epoch(Lane{lane}), sum);
  }

  // The first cell of the rows is the sum.
  [[nodiscard]] MUSTER_FN Signal shared() const { return rows_.from(Lane{0}, Rank{0}); }

  Rows rows_;
};

}  // namespace muster
