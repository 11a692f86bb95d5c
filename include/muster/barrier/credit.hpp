// CreditBarrier: deposits are counts that the waiter takes back, so that its cells return to zero.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Nothing is to be carried from arrive to wait.
struct NoCount {};

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
class CreditBarrier : public Counting<CreditBarrier, NoCount, AfterFailure::refused> {
 public:
  CreditBarrier() = default;
  template <SetUp T>
  explicit CreditBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr CreditBarrier(Rows rows) : rows_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;
  template <Fabric>
  using State = NoCount;

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return rows_.refusal(fabric.lane());
  }

  template <Fabric F>
  MUSTER_FN void tell(F& fabric, NoCount /*last*/) const {
    describe(fabric, CallSignature{"CreditBarrier", {rows_.first.cell, 0}});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN static NoCount last(const F& /*fabric*/) {
    return {};
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static NoCount at(const F& /*fabric*/, NoCount none) {
    return none;
  }
  [[nodiscard]] MUSTER_FN static NoCount count(NoCount none) { return none; }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, NoCount /*state*/, BarrierUse use) const {
    fabric.converge();  // the notifying thread speaks for what all threads of the lane wrote
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's wait below.
      fabric.notify(mine, peer, 1, NotifyOp::add, use.notify);
    });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, NoCount /*state*/, BarrierUse use) const {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      const WaitStatus one = fabric.wait(theirs, Compare::ge, 1, use.wait);
      // To the own rank: it has taken effect on return, so the next call cannot read the old
      // credit. Relaxed: it speaks to nobody but this thread.
      if (one == WaitStatus::ok)
        fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
      status = worst(status, one);
    });
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN static void keep(const F& /*fabric*/, NoCount /*state*/) {}

  Rows rows_;
};

}  // namespace muster
