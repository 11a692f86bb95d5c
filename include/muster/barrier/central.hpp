// CentralBarrier: all report to rank 0, which then lets all go on.
#pragma once

#include "muster/barrier/scope.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per call, P ranks: 2 rounds, 0 bytes; 1 notify and 1 wait, on rank 0 P-1 of both; one flush
// where the fabric is not `direct`.
//
// For ranks that share cores: all of them move 2(P-1) cells, where EpochBarrier moves P(P-1) and
// DisseminationBarrier gives each rank log2 P turns to wait for. Where every rank has a core, or the
// links between GPUs work side by side, those two are faster.
//
// A rank's cell at rank 0 says "I have arrived", rank 0's cell at a rank "all have arrived": the
// same cell of the row that EpochBarrier uses between the two.
//
// Who advances: the calling lane, its own counter, after the waits. No deposit can be lost: one
// writer per cell, values only grow, ge is wrap-safe, and a writer is at most one epoch ahead.
//
// Rank 0 carries on what its waits have acquired: the lane converges, then each thread releases.
// With the use `entry` the reports are relaxed: what they speak for was released by the end of an
// earlier launch, but what came to rank 0 from others was not. A chain that acquires nothing
// (`exit`, `rendezvous`) carries nothing, and contract 5 orders it.
//
// A transfer to a rank other than 0 is carried by nobody: arrive flushes first, unless the fabric
// is `direct`.
//
// After a wait that was not `ok` rank 0 lets nobody go on: the peers fail too, or pass at the next
// call's deposit, which says more. The epoch is advanced all the same.
class CentralBarrier {
 public:
  struct [[nodiscard]] Arrival {
    Epoch epoch;
    BarrierUse use;
  };
  CentralBarrier() = default;
  template <SetUp T>
  explicit CentralBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr CentralBarrier(Rows rows) : rows_(rows) {}

  // Called by all threads of the lane.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    tell(fabric);
    State<F> epoch = begin(fabric);
    announce(fabric, epoch, use);
    return Arrival{epoch, use};
  }

  // Called by all threads of the lane, once per arrival; the same status to all. Rank 0 lets the
  // others go on here, so what it does between arrive and wait delays them.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    return BarrierSteps::wait(*this, fabric, arrival.epoch, arrival.use);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    tell(fabric);
    return BarrierSteps::sync(*this, fabric, use);
  }

  // For loops: body(scope), see BarrierScope. Returns the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full) const {
    return BarrierSteps::scoped(*this, fabric, body, use);
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend struct BarrierSteps;
  template <class Barrier, Fabric F>
  friend class BarrierScope;
  template <Fabric>
  using State = Epoch;

  static constexpr Rank root{0};

  template <Fabric F>
  MUSTER_FN void tell(F& fabric) const {
    describe(fabric, Call{"CentralBarrier", {rows_.first.cell, 0}});
  }

  template <Fabric F>
  MUSTER_FN State<F> begin(F& fabric) const {
    return Epoch{fabric.counter(rows_.epoch(fabric.lane()))};
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& epoch, BarrierUse use) const {
    epoch = epoch.next();
    fabric.converge();  // all threads have read the epoch; the notifying one speaks for all
    const bool direct = !(fabric.profile() < Profile::direct);
    if (!direct) fabric.flush();
    // What the flush completes, the end of an earlier kernel has not released: so `entry` releases.
    const Order order = direct || use.wait != Order::acquire ? use.notify : Order::release;
    if (fabric.rank() != root && fabric.thread() == 0) deposit(fabric, root, epoch, order);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, State<F> epoch, BarrierUse use) const {
    if (fabric.rank() != root) {
      const bool mine = fabric.thread() == 0;
      return fabric.converge(mine ? hear(fabric, root, epoch, use) : WaitStatus::ok);
    }
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric,
                  [&](Rank peer) { status = worst(status, hear(fabric, peer, epoch, use)); });
    status = fabric.converge(status);  // each thread carries on what all have acquired
    if (status != WaitStatus::ok) return status;
    const Order onward = use.wait == Order::acquire ? Order::release : use.notify;
    for_each_peer(fabric, [&](Rank peer) { deposit(fabric, peer, epoch, onward); });
    return status;
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, State<F> epoch) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), epoch.value);
  }

  // Pairs with hear() of that rank.
  template <Fabric F>
  MUSTER_FN void deposit(F& fabric, Rank to, Epoch epoch, Order order) const {
    fabric.notify(rows_.from(fabric.lane(), fabric.rank()), to, epoch.value, NotifyOp::set, order);
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN WaitStatus hear(F& fabric, Rank from, Epoch epoch, BarrierUse use) const {
    return fabric.wait(rows_.from(fabric.lane(), from), Compare::ge, epoch.value, use.wait);
  }

  Rows rows_;
};

}  // namespace muster
