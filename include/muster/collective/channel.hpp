// Channel: bounded staging from each rank to its right neighbour. Messages are many and in order;
// what makes their slots safe to use again is here, once.
#pragma once

#include <cstdint>

#include "muster/barrier/refusal.hpp"
#include "muster/fabric.hpp"

namespace muster {

// A ring of `depth` slots of memory at each rank and lane, which its left neighbour fills.
//
// Message k = 1, 2, ... lies in slot k mod depth. The sender stores it, then sets `filled` at the
// receiver to k with release; the receiver waits for that, reads, converges, and sets `freed` at
// the sender to k. Before message k the sender waits for freed >= k - depth: what the slot held
// has been read. That is release and acquire, too: a relaxed answer would keep the reader's loads
// before the new stores (contract 5), but not the old message before the new one, which are two
// transfers to the same place (contract 8). The checker shows it from 5 ranks on.
//
// Each cell has one writer and only grows; the count of messages lives in a counter, so calls
// follow each other without a barrier. Each rank sends as many messages in a call as it receives.
//
// Cost of a message: 1 notify and 1 wait at the sender, the same at the receiver.
template <class T>
class Channel {
 public:
  static constexpr std::uint32_t depth = 4;  // a power of 2: the count may wrap

  template <Fabric F>
  class Turn;

  Channel() = default;
  // Messages of at most `elements` > 0. Takes depth * lanes * elements of T of every rank.
  template <SetUp Team>
  Channel(Team& team, std::int64_t elements)
      : filled_(*team.rows()),
        freed_(*team.rows()),
        slots_(*team.template window<T>({std::int64_t{depth} * filled_.lanes, elements})) {}

  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const { return slots_.cols; }
  [[nodiscard]] MUSTER_FN Rows rows() const { return filled_; }

  // Called by all threads of the lane, as all of Turn.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN Turn<F> turn(F& fabric) const {
    return Turn<F>(*this, fabric);
  }

 private:
  Rows filled_;
  Rows freed_;
  WindowRef<T> slots_;
};

// One call's messages. After a wait that was not `ok` nothing more is sent or received, and later
// calls are `refused`: a neighbour may be some messages behind.
template <class T>
template <Fabric F>
class Channel<T>::Turn {
 public:
  MUSTER_FN Turn(const Channel& channel, F& fabric)
      : channel_(channel),
        fabric_(fabric),
        right_(right_of(fabric)),
        left_(left_of(fabric)),
        sent_{fabric.counter(channel.filled_.epoch(fabric.lane()))},
        received_(sent_) {
    if (Refusal::stands(fabric, note())) [[unlikely]]
      status_ = WaitStatus::refused;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Until the next message may be written: the same status to all threads.
  MUSTER_FN WaitStatus begin_send() {
    used_ = true;
    sent_ = sent_.next();
    // Pairs with the notify in end_receive: the neighbour has read what the slot held.
    return wait(channel_.freed_.from(fabric_.lane(), right_), sent_.value - depth);
  }

  template <class Tile>
  MUSTER_FN void write(Tile& tile, std::int64_t at, std::int64_t count) {
    if (status_ == WaitStatus::ok) [[likely]]
      fabric_.remote_store(tile, channel_.slots_, right_, box(sent_, at, count));
  }

  MUSTER_FN void end_send() {
    fabric_.converge();  // all threads have written
    // Pairs with the wait in begin_receive.
    if (status_ == WaitStatus::ok && fabric_.thread() == 0)
      fabric_.notify(channel_.filled_.from(fabric_.lane(), fabric_.rank()), right_, sent_.value,
                     NotifyOp::set, Order::release);
  }

  // Until the next message is there: the same status to all threads.
  MUSTER_FN WaitStatus begin_receive() {
    used_ = true;
    received_ = received_.next();
    return wait(channel_.filled_.from(fabric_.lane(), left_), received_.value);
  }

  template <class Tile>
  MUSTER_FN void read(Tile& tile, std::int64_t at, std::int64_t count) {
    if (status_ == WaitStatus::ok) [[likely]]
      fabric_.load(tile, channel_.slots_, box(received_, at, count));
  }

  MUSTER_FN void end_receive() {
    fabric_.converge();  // all threads have read
    if (status_ == WaitStatus::ok && fabric_.thread() == 0)
      fabric_.notify(channel_.freed_.from(fabric_.lane(), fabric_.rank()), left_, received_.value,
                     NotifyOp::set, Order::release);
  }

  [[nodiscard]] MUSTER_FN WaitStatus status() const { return status_; }

  // The status of the call, the same to all threads.
  MUSTER_FN WaitStatus end() {
    fabric_.converge();  // all threads have read the counters
    if (!used_) return status_;
    if (fabric_.thread() == 0)
      fabric_.set_counter(channel_.filled_.epoch(fabric_.lane()), sent_.value);
    (void)Refusal::after(fabric_, note(), status_);
    fabric_.converge();  // before any thread reads them again
    return status_;
  }

 private:
  MUSTER_FN WaitStatus wait(Signal signal, std::uint32_t value) {
    if (status_ != WaitStatus::ok) [[unlikely]]
      return status_;
    WaitStatus status = WaitStatus::ok;
    if (fabric_.thread() == 0) status = fabric_.wait(signal, Compare::ge, value, Order::acquire);
    return status_ = fabric_.converge(status);
  }
  [[nodiscard]] MUSTER_FN Counter note() const { return channel_.filled_.refusal(fabric_.lane()); }
  [[nodiscard]] MUSTER_FN Box box(Epoch message, std::int64_t at, std::int64_t count) const {
    return Box{std::int64_t{depth} * fabric_.lane().value + message.value % depth, at, 1, count};
  }

  const Channel& channel_;
  F& fabric_;
  Rank right_;
  Rank left_;
  Epoch sent_;
  Epoch received_;
  WaitStatus status_ = WaitStatus::ok;
  bool used_ = false;
};

}  // namespace muster
