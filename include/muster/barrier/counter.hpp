// CounterBarrier: every peer adds to one shared cell, so that a rank waits once.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/target.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 notifies, 1 wait, 0 bytes; one flush where the
// fabric is not `direct` and the notifies release.
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
// Relaxed uses: `rendezvous` and `exit` are sound for the same reason (contract 5 chains them), and
// so is `entry` once in a launch: the end of the launch before has flushed, and a fast peer's
// second deposit comes from a later launch, whose beginning has acquired what it speaks for.
//
// After a wait that was not `ok` the lane must not call the barrier again: its second deposit could
// stand for one that another rank has not made, and let a third through (3 ranks: rank 0 never
// comes, rank 2 gives up and comes again, rank 1 would pass). The next call deposits nothing and
// returns `refused`, in later launches too; make a new barrier, where all ranks agree to.
class CounterBarrier : public Counting<CounterBarrier, std::uint32_t, AfterFailure::refused> {
 public:
  CounterBarrier() = default;
  template <SetUp T>
  explicit CounterBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr CounterBarrier(Rows rows) : rows_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;
  template <Fabric>
  using State = std::uint32_t;  // the sum that is waited for

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    return rows_.refusal(fabric.lane());
  }

  template <Fabric F>
  MUSTER_FN void tell(F& fabric, std::uint32_t sum) const {
    const std::uint32_t peers = fabric.size() - 1;
    describe(fabric, CallSignature{.name = "CounterBarrier",
                                   .detail = {rows_.first.cell, 0},
                                   .number = peers == 0 ? 0 : sum / peers + 1});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t last(F& fabric) const {
    return fabric.counter(rows_.epoch(fabric.lane()));
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static State<F> at(const F& /*fabric*/, std::uint32_t sum) {
    return sum;
  }
  [[nodiscard]] MUSTER_FN static std::uint32_t count(std::uint32_t sum) { return sum; }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& sum, BarrierUse use) const {
    sum += fabric.size() - 1;
    fabric.converge();  // all threads have read the sum; the notifying ones speak for all
    // What earlier launches sent, their end has flushed: a relaxed notify speaks for no more.
    // A flush that fails fails the lane: its deposits are lost, and its waits tell.
    if (fabric.profile() < Profile::direct && use.notify == Order::release) (void)fabric.flush();
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's wait below.
      fabric.notify(shared(fabric), peer, 1, NotifyOp::add, use.notify);
    });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, State<F> sum, BarrierUse use) const {
    const Target<F> mine(fabric, shared(fabric), fabric.rank());
    return mine.wait_converge(fabric, 1, Compare::ge, sum, use.wait);
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, State<F> sum) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), sum);
  }

  // The lane's cell: of its row the first.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN Signal shared(const F& fabric) const {
    return rows_.from(fabric.lane(), Rank{0});
  }

  Rows rows_;
};

}  // namespace muster
