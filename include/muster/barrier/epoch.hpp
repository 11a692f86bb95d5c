// EpochBarrier: the default. One store and one wait per peer.
#pragma once

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

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  Rows rows_;
};

}  // namespace muster
