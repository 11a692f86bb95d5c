// CounterBarrier: every peer adds to one shared cell, so that a rank waits once.
#pragma once

#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 notifies, 1 wait, 0 bytes; one flush where the
// fabric is not `direct`.
//
// Who advances: the calling lane, its own counter, which holds the sum that the last call waited
// for. No deposit can be lost: all are adds, the sum only grows, ge is wrap-safe.
//
// The sum may be reached by a fast peer's second deposit in the place of a slow peer's first. That
// is sound: the fast peer has left the first call, so it has heard of everybody, and its release
// carries that. But what the slow peer had put to THIS rank is carried only by the slow peer's own
// deposit, or by nothing: so arrive flushes first, unless the fabric is `direct`, where every
// release carries every earlier transfer.
//
// Relaxed uses: `rendezvous` and `exit` are sound for the same reason (contract 5 chains them).
//
// After a wait that was not `ok` the sum is advanced all the same, as the epoch of EpochBarrier.
class CounterBarrier {
 public:
  struct [[nodiscard]] Arrival {
    std::uint32_t sum;
    BarrierUse use;
  };

  CounterBarrier() = default;
  template <SetUp T>
  explicit CounterBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr CounterBarrier(Rows rows) : rows_(rows) {}

  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    const std::uint32_t sum = fabric.counter(rows_.epoch(fabric.lane())) + fabric.size() - 1;
    fabric.converge();  // all threads have read the sum; the notifying ones speak for all
    if (fabric.profile() < Profile::direct) fabric.flush();
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's wait below.
      fabric.notify(shared(fabric), peer, 1, NotifyOp::add, use.notify);
    });
    return Arrival{sum, use};
  }

  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      status = fabric.wait(shared(fabric), Compare::ge, arrival.sum, arrival.use.wait);
      // Ordered before the next read of the counter, by any thread, by the converge that follows.
      fabric.set_counter(rows_.epoch(fabric.lane()), arrival.sum);
    }
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    return wait(fabric, arrive(fabric, use));
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  // The lane's cell: of its row the first.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN Signal shared(const F& fabric) const {
    return rows_.from(fabric.lane(), Rank{0});
  }

  Rows rows_;
};

}  // namespace muster
