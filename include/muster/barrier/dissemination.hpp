// DisseminationBarrier: ceil(log2 P) rounds with one notify and one wait each.
//
// Hensgen, Finkel, Manber: Two Algorithms for Barrier Synchronization, 1988.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: ceil(log2 P) rounds, as many notifies and waits, 0 bytes; one
// flush where the fabric is not `direct` and the notifies release.
//
// In round k rank r deposits to r + 2^k and waits for r - 2^k. The writers of a rank's rounds are
// all distinct, so each round has a cell of its own in the row, and each cell one writer.
//
// Who advances: the calling lane, its own counter, after the waits. No deposit can be lost: one
// writer per cell, values only grow, ge is wrap-safe, and a writer is at most one epoch ahead.
//
// Round k says: "I and the 2^k - 1 ranks to my left have arrived". So a deposit after the first
// must carry on what the waits before it have acquired: one thread makes all rounds, each an
// acquire wait before a release notify. With the use `entry` only the first notify is relaxed: what
// it speaks for was released and flushed by the end of an earlier launch, but what came from other
// ranks was not. A chain that acquires nothing (`exit`, `rendezvous`) carries nothing, and contract
// 5 orders it.
//
// Most of the rounds are made in wait, so what lies between arrive and wait delays the peers.
//
// A transfer to a rank that this one does not notify is carried by nobody: for `full`, arrive
// flushes first, unless the fabric is `direct`.
//
// After a wait that was not `ok` the later rounds of the call are left out, since they would speak
// for ranks that nobody has heard of: the peers that wait for them fail too, or pass at the next
// call's deposits, which say more. The epoch is advanced all the same, and the barrier may be
// called again, by every rank equally often: see EpochBarrier.
class DisseminationBarrier : public Counting<DisseminationBarrier, Epoch, AfterFailure::again> {
 public:
  DisseminationBarrier() = default;
  template <SetUp T>
  explicit DisseminationBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr DisseminationBarrier(Rows rows) : rows_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;
  template <Fabric>
  using State = Epoch;

  template <Fabric F>
  MUSTER_FN void tell(F& fabric, Epoch last) const {
    describe(fabric, CallSignature{.name = "DisseminationBarrier",
                                   .detail = {rows_.first.cell, 0},
                                   .number = last.next().value});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Epoch last(F& fabric) const {
    return Epoch{fabric.counter(rows_.epoch(fabric.lane()))};
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static State<F> at(const F& /*fabric*/, Epoch epoch) {
    return epoch;
  }
  [[nodiscard]] MUSTER_FN static Epoch count(Epoch epoch) { return epoch; }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& epoch, BarrierUse use) const {
    epoch = epoch.next();
    fabric.converge();  // all threads have read the epoch; the notifying one speaks for all
    // What earlier launches sent, their end has flushed: a relaxed notify speaks for no more.
    // A flush that fails fails the lane: its deposits are lost, and its waits tell.
    if (fabric.profile() < Profile::direct && use.notify == Order::release) (void)fabric.flush();
    if (fabric.thread() == 0 && fabric.size() > 1) deposit(fabric, 1, epoch, use.notify);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, State<F> epoch, BarrierUse use) const {
    return fabric.converge(fabric.thread() == 0 ? rounds(fabric, epoch, use) : WaitStatus::ok);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus rounds(F& fabric, Epoch epoch, BarrierUse use) const {
    const std::uint32_t ranks = fabric.size();
    // What a wait acquired, the next notify releases.
    const Order onward = use.wait == Order::acquire ? Order::release : use.notify;
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
      if (distance > 1) deposit(fabric, distance, epoch, onward);
      const std::uint32_t rank = fabric.rank().value;
      const Rank left{rank >= distance ? rank - distance : rank + ranks - distance};
      // Pairs with the deposit of that rank at the same distance.
      const WaitStatus status =
          fabric.wait(rows_.from(fabric.lane(), left), Compare::ge, epoch.value, use.wait);
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, State<F> epoch) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), epoch.value);
  }

  // Pairs with the wait of the rank that is `distance` to the right.
  template <Fabric F>
  MUSTER_FN void deposit(F& fabric, std::uint32_t distance, Epoch epoch, Order order) const {
    const std::uint32_t sum = fabric.rank().value + distance;
    const Rank right{sum < fabric.size() ? sum : sum - fabric.size()};
    fabric.notify(rows_.from(fabric.lane(), fabric.rank()), right, epoch.value, NotifyOp::set,
                  order);
  }

  Rows rows_;
};

}  // namespace muster
