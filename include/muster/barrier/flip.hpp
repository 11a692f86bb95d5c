// FlipBarrier: hand and take. Leaves every cell zero, and is byte-compatible with PyTorch's signal
// pad.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/use.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 hands, P-1 takes; two trips where a peer has not
// yet taken the mark of the last call.
//
// Who resets: the taker, which turns the 1 that it waited for back into 0; the next hand waits for
// that. No mark can be lost: a cell has one handing thread and one taking thread, and each waits
// for the other. The state between calls is all zero, so the pad can be shared with other code that
// leaves it zero.
//
// On a pad, lane k takes channel k; or channel c + k, where it is told c: then several barriers, or
// other code, use the other channels of one pad at the same time. Two that use one channel take
// turns, and something else orders them. A lane that there is no channel for touches nothing: its
// calls are `invalid`.
//
// arrive() may block until the peers have left the previous call.
//
// After a status that was not `ok` marks may lie in the cells that a later call would take for its
// own. So the lane must not call the barrier again: the next call deposits nothing and returns
// `refused`, in later launches too; make a new barrier, on other cells. Rows without counters
// (PyTorch's pad) have a cell from the rank to itself, which nobody hands to: it is noted there.
class FlipBarrier : public Counting<FlipBarrier, WaitStatus, AfterFailure::refused> {
 public:
  FlipBarrier() = default;
  template <SetUp T>
  explicit FlipBarrier(T& team) : rows_(*team.rows()) {}
  MUSTER_FN explicit constexpr FlipBarrier(Rows rows) : rows_(rows) {}
  // Lane k of `lanes` takes the pad's channel `first` + k: what PyTorch's barrier(channel=first +
  // k) takes. On the host; throws Failure, as a Result without a value does, where the pad has no
  // such channels.
  FlipBarrier(Rows pad, PadChannel first, std::uint32_t lanes = 1)
      : rows_(*channels_of(pad, first, lanes)) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  friend Counting;

  [[nodiscard]] static Result<Rows> channels_of(Rows pad, PadChannel first, std::uint32_t lanes) {
    const std::uint32_t c = first.value;
    if (lanes == 0 || c >= pad.lanes || lanes > pad.lanes - c)
      return Error{ErrorCode::invalid_argument,
                   "FlipBarrier: channel is " + std::to_string(c) + " for " +
                       std::to_string(lanes) + " lanes; the pad has " + std::to_string(pad.lanes) +
                       " channels, one for each lane from there on, at least one"};
    Rows rows = pad;
    rows.first.cell += c * pad.ranks;
    rows.lanes = lanes;
    // So that each channel keeps the counter where its failure is noted, whoever uses it.
    if (pad.has_counters()) rows.first_epoch.cell += pad.lanes + c - lanes;
    return rows;
  }

  template <Fabric>
  using State = WaitStatus;  // the worst of the hands

  template <class F>
  [[nodiscard]] MUSTER_FN bool fits(F& fabric) const {
    const bool has_channel = fabric.lane().value < rows_.lanes;
    expect(fabric, has_channel, "FlipBarrier: there is a channel for each lane that runs");
    return has_channel;
  }

  // Where a failure is noted.
  template <class F>
  [[nodiscard]] MUSTER_FN Counter refusal(const F& fabric) const {
    if (rows_.has_counters()) return rows_.refusal(fabric.lane());
    const Signal own = rows_.from(fabric.lane(), fabric.rank());
    return Counter{own.segment, own.cell};
  }

  template <Fabric F>
  MUSTER_FN void tell(F& fabric, WaitStatus /*handed*/) const {
    describe(fabric, CallSignature{"FlipBarrier", {rows_.first.cell, 0}});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN static WaitStatus last(const F& /*fabric*/) {
    return WaitStatus::ok;
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static WaitStatus at(const F& /*fabric*/, WaitStatus handed) {
    return handed;
  }
  [[nodiscard]] MUSTER_FN static WaitStatus count(WaitStatus handed) { return handed; }

  template <HandoffFabric F>
  MUSTER_FN void announce(F& fabric, WaitStatus& handed, BarrierUse use) const {
    const OneCall call(fabric);  // a hand may wait
    fabric.converge();           // the handing thread speaks for what all threads of the lane wrote
    handed = WaitStatus::ok;
    const Signal mine = rows_.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      // Pairs with the peer's take below.
      handed = worst(handed, fabric.hand(mine, peer, use.notify));
    });
  }

  template <HandoffFabric F>
  MUSTER_FN WaitStatus await(F& fabric, WaitStatus handed, BarrierUse use) const {
    WaitStatus status = handed;
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.take(rows_.from(fabric.lane(), peer), use.wait));
    });
    return fabric.converge(status);
  }

  template <Fabric F>
  MUSTER_FN static void keep(const F& /*fabric*/, WaitStatus /*handed*/) {}

  Rows rows_;
};

}  // namespace muster
