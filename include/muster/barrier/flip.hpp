// FlipBarrier: hand and take. Leaves every cell zero, and is byte-compatible with PyTorch's signal
// pad.
#pragma once

#include "muster/barrier/refusal.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 hands, P-1 takes; two trips where a peer has not
// yet taken the mark of the last call.
//
// Who resets: the taker, which turns the 1 that it waited for back into 0; the next hand waits for
// that. No mark can be lost: a cell has one handing thread and one taking thread, and each waits
// for the other. The state between calls is all zero, so the pad can be shared with other code that
// leaves it zero.
//
// arrive() may block until the peers have left the previous call.
//
// After a status that was not `ok` marks may lie in the cells that a later call would take for its
// own. So the lane must not call the barrier again: the next call deposits nothing and returns
// `refused`, in later launches too; make a new barrier, on other cells. Rows without counters
// (PyTorch's pad) have a cell from the rank to itself, which nobody hands to: it is noted there.
class FlipBarrier {
 public:
  struct [[nodiscard]] Arrival {
    WaitStatus status;  // `refused`, or the worst of the hands
    BarrierUse use;
  };

  FlipBarrier() = default;
  template <SetUp T>
  explicit FlipBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr FlipBarrier(Rows rows) : rows_(rows) {}

  template <HandoffFabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    describe(fabric, CallSignature{"FlipBarrier", {rows_.first.cell, 0}});
    const OneCall call(fabric);
    if (Refusal::stands(fabric, note(fabric))) [[unlikely]] {
      fabric.converge();  // all threads have looked
      return Arrival{WaitStatus::refused, use};
    }
    fabric.converge();  // the handing thread speaks for what all threads of the lane wrote
    WaitStatus status = WaitStatus::ok;
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's take below.
      status = worst(status, fabric.hand(mine, peer, use.notify));
    });
    return Arrival{status, use};
  }

  template <HandoffFabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    if (arrival.status == WaitStatus::refused) [[unlikely]]
      return arrival.status;
    const OneCall call(fabric);
    WaitStatus status = arrival.status;
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.take(rows_.from(fabric.lane(), peer), arrival.use.wait));
    });
    return Refusal::after(fabric, note(fabric), fabric.converge(status));
  }

  template <HandoffFabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const OneCall call(fabric);
    return wait(fabric, arrive(fabric, use));
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  template <class F>
  [[nodiscard]] MUSTER_FN Counter note(const F& fabric) const {
    if (rows_.has_counters()) return rows_.refusal(fabric.lane());
    const Signal own = rows_.from(fabric.lane(), fabric.rank());
    return Counter{own.segment, own.cell};
  }

  Rows rows_;
};

}  // namespace muster
