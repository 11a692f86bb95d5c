// SendReceive: messages from one rank to another, of which nobody else knows.
#pragma once

#include <cstdint>

#include "muster/barrier/refusal.hpp"
#include "muster/collective/call.hpp"
#include "muster/fabric.hpp"

namespace muster {

// What one rank sends, the other receives: to[i] = from[i], 0 <= i < count, both with the same
// count. Calls between two ranks pair up in the order in which they are made, in each direction by
// itself; other ranks have no part in them.
//
// A ring of `depth` slots at each rank for each lane and each sender. Message k = 1, 2, ... of a
// pair lies in slot k mod depth. The sender stores it, then sets `filled` at the receiver to k with
// release; the receiver waits for that, reads, converges, and sets `freed` at the sender to k.
// Before message k the sender waits for freed >= k - depth. That is release and acquire, too, since
// the old message and the new one are two transfers to the same place (contract 8). What is sent
// (the count, and how many lanes share it) lies beside the first of its messages, one for each
// slot: a sender may be a call ahead.
//
// A receiver that expects something else leaves the message where it is, and sets `freed` far ahead
// of all messages: the sender, which looks for that where it waits, ends too.
//
// Each cell has one writer and only grows; the counts of each pair live in a window of the rank's
// own. What is sent has been copied when send() returns, whether or not it has been received; more
// than depth messages of elements() flow through the slots while the other side receives. So two
// ranks that both send first wait for each other where the message is longer than that.
//
// Cost of a call of m messages (1 where count is 0): m notifies and m waits on each side, m looks
// at a cell by the sender; count elements, and 16 bytes, written by the sender.
//
// `from` and `to` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory, which all ranks of the team
// make together; calls may follow each other at once. Both sides run the same number of lanes,
// which share the elements. After a call that was not `ok` for a wait, or because the two sides do
// not agree, the next call of this lane, with whomever, returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class SendReceive {
 public:
  static constexpr std::uint32_t depth = 4;  // a power of 2: the count may wrap

  SendReceive() = default;
  // `chunk` elements are staged for each sender, on each lane that the team may run.
  template <SetUp Team>
  explicit SendReceive(Team& team, CollectiveOptions options = {})
      : filled_(*team.rows()),
        freed_(*team.rows()),
        slots_(*team.template window<T>({std::int64_t{depth} * filled_.lanes * filled_.ranks,
                                         message_of(detail::chunk_of<T>(options.chunk))})),
        sent_(*team.template window<std::int64_t>({slots_.rows, words})),
        counts_(*team.template window<std::uint32_t>(
            {std::int64_t{2} * filled_.lanes, filled_.ranks})) {}

  // The elements of a message; a lane's share of no more than depth of them is sent without waiting
  // for the receiver, where it has received all before.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const { return slots_.cols; }

  // What a rank says of its call to the one that receives.
  struct Sent {
    std::int64_t count = 0;
    std::int64_t lanes = 0;
    friend constexpr bool operator==(const Sent&, const Sent&) = default;
  };

  // Called by all threads of the lane; the same status to all. `invalid`: `to` is no other rank of
  // the team, or `from` does not hold count >= 0 elements: nobody is told. Or the receiver expects
  // another count, or runs other lanes: this call ends so where it waits for the receiver, else,
  // where all of it lay in the slots already, the next one to that rank.
  template <Fabric F, TransferEnd From>
  MUSTER_FN WaitStatus send(F& fabric, Rank to, From from, std::int64_t count) const {
    if (!is_peer(fabric, to) || count < 0 || count > from.size()) return WaitStatus::invalid;
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    auto tile = fabric.template tile<T, 1, C>();
    Line<F> line(*this, fabric, to, freed_, 0);
    const Sent sent{count, fabric.lanes()};
    detail::each_piece(mine.count, elements(), [&](std::int64_t first, std::int64_t piece) {
      // Pairs with the notify of the receiver below: it has read what the slot held.
      if (line.next(depth, true) != WaitStatus::ok) return false;
      const std::int64_t slot = slot_of(fabric, fabric.rank(), line.number);
      if (first == 0) announce(fabric, to, slot, sent);
      detail::each_tile<C>(piece, [&](std::int64_t at, std::int64_t length) {
        fabric.load(tile, detail::as_run(from), detail::run_box(mine.first + first + at, length));
        fabric.remote_store(tile, slots_, to, Box{slot, at, 1, length});
      });
      line.tell(filled_);
      return true;
    });
    return line.end();
  }

  // Called by all threads of the lane; the same status to all. `invalid`: `from` is no other rank
  // of the team, or `to` does not hold count >= 0 elements; or something else has been sent, which
  // announced() tells, and the sender is told in turn.
  template <Fabric F, TransferEnd To>
  MUSTER_FN WaitStatus receive(F& fabric, Rank from, To to, std::int64_t count) const {
    if (!is_peer(fabric, from) || count < 0 || count > to.size()) return WaitStatus::invalid;
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have read what this one writes
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    auto tile = fabric.template tile<T, 1, C>();
    Line<F> line(*this, fabric, from, filled_, 1);
    detail::each_piece(mine.count, elements(), [&](std::int64_t first, std::int64_t piece) {
      // Pairs with the notify of the sender above.
      if (line.next(0, false) != WaitStatus::ok) return false;
      const std::int64_t slot = slot_of(fabric, from, line.number);
      if (first == 0 && !(sent_at(fabric, slot) == Sent{count, fabric.lanes()})) {
        line.refuse(freed_);
        return false;
      }
      detail::each_tile<C>(piece, [&](std::int64_t at, std::int64_t length) {
        fabric.load(tile, slots_, Box{slot, at, 1, length});
        fabric.store(tile, detail::as_run(to), detail::run_box(mine.first + first + at, length));
      });
      line.tell(freed_);
      return true;
    });
    return line.end();
  }

  // What `from` has sent to this lane, where receive() has not accepted it.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN Sent announced(F& fabric, Rank from) const {
    const std::uint32_t received = fabric.local(counts_)[count_of(fabric, from, 1)];
    return sent_at(fabric, slot_of(fabric, from, Epoch{received}.next()));
  }

 private:
  static constexpr std::int64_t words = 2;         // of Sent
  static constexpr std::uint32_t far = 1U << 30U;  // no message is so far ahead

  // The messages of one call: those with one peer in one direction.
  template <class F>
  struct Line {
    MUSTER_FN Line(const SendReceive& all, F& lane, Rank with, Rows heard, std::int64_t direction)
        : object(all),
          fabric(lane),
          peer(with),
          heard_from(heard.from(lane.lane(), with)),
          place(all.count_of(lane, with, direction)),
          number{lane.local(all.counts_)[place]} {
      if (Refusal::stands(lane, note())) [[unlikely]]
        status = WaitStatus::refused;
    }

    // Until the peer has told of the next message, or of the one `back` before it; a sender is
    // refused where the receiver has refused.
    MUSTER_FN WaitStatus next(std::uint32_t back, bool sends) {
      if (status != WaitStatus::ok) [[unlikely]]
        return status;
      number = number.next();
      WaitStatus heard = WaitStatus::ok;
      if (fabric.thread() == 0) {
        heard = fabric.wait(heard_from, Compare::ge, number.value - back, Order::acquire);
        if (heard == WaitStatus::ok && sends) heard = look();
      }
      return status = fabric.converge(heard);
    }
    // Relaxed: a refusal carries nothing.
    MUSTER_FN WaitStatus look() {
      const WaitStatus refused =
          fabric.test(heard_from, Compare::ge, number.value + far / 2, Order::relaxed);
      if (refused == WaitStatus::pending) [[likely]]
        return WaitStatus::ok;
      return refused == WaitStatus::ok ? WaitStatus::invalid : refused;
    }
    MUSTER_FN void tell(Rows rows) {
      fabric.converge();  // all threads have written, or read
      if (fabric.thread() == 0)
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, number.value, NotifyOp::set,
                      Order::release);
    }
    // The message stays where it is; pairs with look() at the sender.
    MUSTER_FN void refuse(Rows rows) {
      if (fabric.thread() == 0)
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, number.value + far,
                      NotifyOp::set, Order::release);
      number = Epoch{number.value - 1};
      status = WaitStatus::invalid;
    }
    MUSTER_FN WaitStatus end() {
      fabric.converge();  // all threads have read the counts
      if (status == WaitStatus::refused) [[unlikely]]
        return status;
      if (fabric.thread() == 0) fabric.local(object.counts_)[place] = number.value;
      (void)Refusal::after(fabric, note(), status);
      fabric.converge();  // before any thread reads them again
      return status;
    }
    [[nodiscard]] MUSTER_FN Counter note() const { return object.filled_.refusal(fabric.lane()); }

    const SendReceive& object;
    F& fabric;
    Rank peer;
    Signal heard_from;
    std::int64_t place;
    Epoch number;
    WaitStatus status = WaitStatus::ok;
  };

  template <class F>
  [[nodiscard]] MUSTER_FN static bool is_peer(const F& fabric, Rank peer) {
    return peer.value < fabric.size() && peer != fabric.rank();
  }
  // At the receiver.
  template <class F>
  [[nodiscard]] MUSTER_FN std::int64_t slot_of(const F& fabric, Rank sender, Epoch message) const {
    return (std::int64_t{fabric.lane().value} * filled_.ranks + sender.value) * depth +
           message.value % depth;
  }
  // Of the messages to (direction 0) or from (1) a peer.
  template <class F>
  [[nodiscard]] MUSTER_FN std::int64_t count_of(const F& fabric, Rank peer,
                                                std::int64_t direction) const {
    return (2 * std::int64_t{fabric.lane().value} + direction) * filled_.ranks + peer.value;
  }
  template <class F>
  MUSTER_FN void announce(F& fabric, Rank to, std::int64_t slot, Sent sent) const {
    auto both = fabric.template tile<std::int64_t, 1, words>();
    both.each([&](std::int64_t, std::int64_t col, std::int64_t& element) {
      element = col == 0 ? sent.count : sent.lanes;
    });
    fabric.remote_store(both, sent_, to, Box{slot, 0, 1, words});
  }
  template <class F>
  [[nodiscard]] MUSTER_FN Sent sent_at(F& fabric, std::int64_t slot) const {
    const std::int64_t count = fabric.local(sent_)[slot * words];
    const std::int64_t lanes = fabric.local(sent_)[slot * words + 1];
    return {count, lanes};
  }
  [[nodiscard]] static constexpr std::int64_t message_of(std::int64_t chunk) {
    const std::int64_t part = chunk / depth;
    if (part >= C) return part;
    return chunk < C ? chunk : C;
  }

  Rows filled_;
  Rows freed_;
  WindowRef<T> slots_;
  WindowRef<std::int64_t> sent_;     // beside each slot
  WindowRef<std::uint32_t> counts_;  // of this rank's own lanes
};

}  // namespace muster
