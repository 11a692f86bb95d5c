// Handoff: data that passes from one rank to another over and over, with nothing that counts. Every
// value that is written or waited for is the same each time, so that the operations can be captured
// into a CUDA graph and replayed. For kernels, host lanes, and streams (fabric/gpu/stream.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "muster/fabric.hpp"
#include "muster/types.hpp"

namespace muster {

// What a handoff needs of whatever carries it: every fabric has it, and gpu::StreamLane.
template <class L>
concept HandoffLane = requires(L& lane, const L& view, Signal signal, Rank peer,
                               std::uint32_t value) {
  { view.rank() } -> std::same_as<Rank>;
  lane.notify(signal, peer, value, NotifyOp::set, Order::release);
  { lane.wait(signal, Compare::eq, value, Order::acquire) } -> std::same_as<WaitStatus>;
};

// Two cells on each rank: `filled`, which its sender sets, and `busy`, which says that what this
// rank itself has sent is still in use. So with one object each rank may send to one other and
// receive from one other: a ring, or both directions between two.
//
//   the sender                         the receiver
//   vacant   wait for busy = 0
//   write the data
//   post     busy = 1; filled = 1  ->  wait         wait for filled = 1; filled = 0
//                                      read the data
//            busy = 0              <-  acknowledge
//
// In this order, each of them once a round, by one thread of a lane that speaks for it (converge
// before post and acknowledge, after vacant and wait). A captured graph may hold any number of
// whole rounds, of one side or of both.
//
// Who resets: the receiver sets `filled` to 0 before it acknowledges, the sender posts again only
// after that; the sender sets `busy` to 1 before it posts, the receiver acknowledges only after
// that. So each cell has two writers that take turns, each write is acquired by the other before
// its next, and no deposit can be lost. Between rounds that are complete all cells are zero.
//
// Without the acknowledgement the next round's data would overwrite what is being read, and its
// `filled` would meet one that is still set: muster check broken/handoff_without_acknowledgement.
//
// Ordering: vacant acquires, so that the data may be written again; post releases what the lane
// has written for the receiver, wait acquires it; acknowledge releases. Data that went elsewhere
// needs flush before post, as with any notify.
//
// Cost a round: the sender 1 wait and 2 deposits, one of them its own; the receiver the same.
//
// After a wait that was not `ok` nothing has changed: vacant and wait deposit nothing before their
// wait has ended. So the same step may be waited for again, in a later launch too, and there is
// nothing to refuse; but whoever goes on to the next step all the same writes, or reads, what the
// other still uses. In a stream no wait expires (stream.hpp).
class Handoff {
 public:
  Handoff() = default;
  template <SetUp T>
  explicit Handoff(T& team) : cells_(*team.signals(2)) {}
  // Two signals that are zero.
  MUSTER_FN explicit constexpr Handoff(Signals cells) : cells_(cells) {}

  // The sender: what was posted before, if anything, has been acknowledged.
  template <HandoffLane L>
  MUSTER_FN WaitStatus vacant(L& lane, CallSite<L> site = {}) const {
    const Called called(lane, site);
    return lane.wait(busy(), Compare::eq, 0, Order::acquire);  // pairs with acknowledge
  }

  // The sender: what it has written is the receiver's.
  template <HandoffLane L>
  MUSTER_FN void post(L& lane, Rank to, CallSite<L> site = {}) const {
    const Called called(lane, site);
    // Relaxed: it speaks to nobody but this lane and, through the next line, the receiver.
    lane.notify(busy(), lane.rank(), 1, NotifyOp::set, Order::relaxed);
    lane.notify(filled(), to, 1, NotifyOp::set, Order::release);  // pairs with wait
  }

  // The receiver: waits for data.
  template <HandoffLane L>
  MUSTER_FN WaitStatus wait(L& lane, CallSite<L> site = {}) const {
    const Called called(lane, site);
    const WaitStatus status = lane.wait(filled(), Compare::eq, 1, Order::acquire);
    if (status == WaitStatus::ok)
      lane.notify(filled(), lane.rank(), 0, NotifyOp::set, Order::relaxed);
    return status;
  }

  // The receiver: has read the data, which may be overwritten.
  template <HandoffLane L>
  MUSTER_FN void acknowledge(L& lane, Rank from, CallSite<L> site = {}) const {
    const Called called(lane, site);
    lane.notify(busy(), from, 0, NotifyOp::set, Order::release);  // pairs with vacant
  }

  [[nodiscard]] MUSTER_FN Signals cells() const { return cells_; }
  [[nodiscard]] MUSTER_FN Signal filled() const { return cells_[0]; }
  [[nodiscard]] MUSTER_FN Signal busy() const { return cells_[1]; }

 private:
  Signals cells_;
};

}  // namespace muster
