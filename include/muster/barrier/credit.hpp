// CreditBarrier: deposits are counts that the waiter takes back, so that its cells return to zero.
#pragma once

#include "muster/barrier/refusal.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 notifies to peers and P-1 to itself (the
// take-backs), P-1 waits.
//
// Who resets: the waiter, which takes back exactly the one credit that it waited for, by an add, as
// the only waiter of the cell, before its next wait. No deposit can be lost: all deposits are adds,
// so the credit of the next call that a fast peer has already given stays in the cell (which is at
// most 2). Never a set: it would wipe that credit.
//
// A wait that was not `ok` takes nothing back: the credit may still come, and the next call would
// take it for its own. So the lane must not call the barrier again: the next call deposits nothing
// and returns `refused`, in later launches too; make a new barrier, where all ranks agree to.
class CreditBarrier {
 public:
  struct [[nodiscard]] Arrival {
    bool refused;
    BarrierUse use;
  };

  CreditBarrier() = default;
  template <SetUp T>
  explicit CreditBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr CreditBarrier(Rows rows) : rows_(rows) {}

  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    describe(fabric, CallSignature{"CreditBarrier", {rows_.first.cell, 0}});
    if (Refusal::stands(fabric, rows_.refusal(fabric.lane()))) [[unlikely]] {
      fabric.converge();  // all threads have looked
      return Arrival{true, use};
    }
    fabric.converge();  // the notifying thread speaks for what all threads of the lane wrote
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's wait below.
      fabric.notify(mine, peer, 1, NotifyOp::add, use.notify);
    });
    return Arrival{false, use};
  }

  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    if (arrival.refused) [[unlikely]]
      return WaitStatus::refused;
    const OneCall call(fabric);
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      const WaitStatus one = fabric.wait(theirs, Compare::ge, 1, arrival.use.wait);
      // To the own rank: it has taken effect on return, so the next call cannot read the old
      // credit. Relaxed: it speaks to nobody but this thread.
      if (one == WaitStatus::ok)
        fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
      status = worst(status, one);
    });
    return Refusal::after(fabric, rows_.refusal(fabric.lane()), fabric.converge(status));
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    return wait(fabric, arrive(fabric, use));
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  Rows rows_;
};

}  // namespace muster
