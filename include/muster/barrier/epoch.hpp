// EpochBarrier: the default. One store and one wait per peer.
#pragma once

#include "muster/barrier/target.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 notifies, P-1 waits, 0 bytes.
//
// Who advances: the calling lane, its own counter, after the waits. No deposit can be lost: one
// writer per cell, values only grow, ge is wrap-safe, and a peer is at most one epoch ahead.
//
// After a wait that was not `ok` the epoch is advanced all the same, so that the lanes of all ranks
// stay in step if every rank calls the barrier equally often; the call itself has ordered nothing.
//
// Plain bytes: copy it into bodies and kernels. It owns its rows; no two barriers share any.
class EpochBarrier {
 public:
  // Carries the epoch from arrive to wait, so nobody reads it between the converges.
  struct [[nodiscard]] Arrival {
    Epoch epoch;
    BarrierUse use;
  };

  EpochBarrier() = default;
  template <SetUp T>
  explicit EpochBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr EpochBarrier(Rows rows) : rows_(rows) {}

  // Called by all threads of the lane. What the lane wrote before is deposited for every peer.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    describe(fabric, Call{"EpochBarrier", {rows_.first.cell, 0}});
    const Epoch epoch = Epoch{fabric.counter(rows_.epoch(fabric.lane()))}.next();
    // The notifying thread speaks for what all threads of the lane wrote; and all have read the
    // epoch.
    fabric.converge();
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's wait below on the cell that this rank writes.
      fabric.notify(mine, peer, epoch.value, NotifyOp::set, use.notify);
    });
    return Arrival{epoch, use};
  }

  // Called by all threads of the lane, once per arrival; the same status to all.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      status =
          worst(status, fabric.wait(theirs, Compare::ge, arrival.epoch.value, arrival.use.wait));
    });
    // Ordered before the next read of the counter, by any thread, by the converge that follows.
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), arrival.epoch.value);
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    return wait(fabric, arrive(fabric, use));
  }

  // The same barrier for a loop: body(scope) calls scope.sync(), or arrive() and wait() in turn, as
  // often as it likes. Epoch, status and addresses stay in registers; the counter is read once
  // before and written once after. Returns the worst status of all calls, the same to all threads.
  //
  //   barrier.scoped(fabric, [&](auto& scope) {
  //     for (int i = 0; i < steps && scope.sync() == WaitStatus::ok; ++i) ...
  //   });
  template <Fabric F>
  class Scoped;

  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full) const {
    Scoped<F> scope(*this, fabric, use);
    body(scope);
    return scope.end();
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  Rows rows_;
};

template <Fabric F>
class EpochBarrier::Scoped {
 public:
  MUSTER_FN void arrive() {
    epoch_ = epoch_.next();
    // The notifying thread speaks for what all threads of the lane wrote.
    fabric_.converge();
    // Pairs with the peer's wait on the cell that this rank writes.
    if (has_first_) first_.notify(fabric_, epoch_.value, NotifyOp::set, use_.notify);
    each_further_peer(
        [&](Rank peer) { fabric_.notify(mine_, peer, epoch_.value, NotifyOp::set, use_.notify); });
  }

  // The same status to all threads.
  MUSTER_FN WaitStatus wait() {
    WaitStatus status = WaitStatus::ok;
    const auto wait_for = [&](Rank peer) {
      const Signal theirs = rows_.from(fabric_.lane(), peer);
      status = worst(status, fabric_.wait(theirs, Compare::ge, epoch_.value, use_.wait));
    };
    if (has_first_) wait_for(first_peer_);
    each_further_peer(wait_for);
    status = fabric_.converge(status);
    status_ = worst(status_, status);
    return status;
  }

  MUSTER_FN WaitStatus sync() {
    arrive();
    return wait();
  }

 private:
  friend class EpochBarrier;

  MUSTER_FN Scoped(const EpochBarrier& barrier, F& fabric, BarrierUse use)
      : fabric_(fabric),
        use_(use),
        rows_(barrier.rows_),
        mine_(rows_.from(fabric.lane(), fabric.rank())),
        begin_{fabric.counter(rows_.epoch(fabric.lane()))},
        epoch_(begin_),
        first_peer_(to_the_right(fabric.thread() + 1 < fabric.size() ? fabric.thread() + 1 : 0)),
        first_(fabric, mine_, first_peer_),
        has_first_(fabric.thread() + 1 < fabric.size() && first_.valid()) {}

  MUSTER_FN WaitStatus end() {
    // All threads read the counter before the first converge of a call; without one it stays.
    if (epoch_ == begin_) return status_;
    if (fabric_.thread() == 0) fabric_.set_counter(rows_.epoch(fabric_.lane()), epoch_.value);
    fabric_.converge();  // before any thread reads it again
    return status_;
  }

  // Those that are left where the lane has fewer threads than the rank has peers.
  template <class Visit>
  MUSTER_FN void each_further_peer(Visit&& visit) const {
    for (std::uint32_t step = 1 + fabric_.thread() + fabric_.threads(); step < fabric_.size();
         step += fabric_.threads())
      visit(to_the_right(step));
  }

  [[nodiscard]] MUSTER_FN Rank to_the_right(std::uint32_t step) const {
    const std::uint32_t sum = fabric_.rank().value + step;
    return Rank{sum < fabric_.size() ? sum : sum - fabric_.size()};
  }

  F& fabric_;
  BarrierUse use_;
  Rows rows_;
  Signal mine_;
  Epoch begin_;
  Epoch epoch_;
  WaitStatus status_ = WaitStatus::ok;
  // Each thread's first peer, whose address is looked up before the loop.
  Rank first_peer_;
  Target<F> first_;
  bool has_first_;
};

}  // namespace muster
