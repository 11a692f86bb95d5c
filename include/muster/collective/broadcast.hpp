// Broadcast: every rank gets what the root has.
#pragma once

#include <cstdint>

#include "muster/barrier/refusal.hpp"
#include "muster/collective/call.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] on every rank = from[i] of rank `root`, 0 <= i < count; `from` of the others is not looked
// at.
//
// The root shows its elements in messages, which lie in `depth` slots of its own memory in turn.
// Messages of a lane are counted over all calls and roots, alike on all ranks. For message k the
// root sets `shown` at every peer to k, with release; a peer waits for that, reads the slot where
// it lies, converges, and, now and then and after the last, sets `read` at the root to k. The root
// writes message k of a call once all have read message k - depth of it, and ends once all have
// read the last. So nothing is in flight when a call ends, and the next may have another root.
//
// Each cell has one writer (a rank's own column) and only grows; the count lives in a counter. Both
// sides of `read` are relaxed: the converge before the notify stands behind the loads, and a wait
// comes before the later stores (contract 5).
//
// Cost, P ranks, m messages: the root m (P-1) notifies, each peer (m + 1) / 2 and m waits; count
// elements read by each peer.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They are the same, or do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class Broadcast {
 public:
  static constexpr std::uint32_t depth = 4;  // a power of 2: the count may wrap

  Broadcast() = default;
  template <SetUp Team>
  explicit Broadcast(Team& team, CollectiveOptions options = {})
      : shown_(*team.rows()),
        read_(*team.rows()),
        slots_(*team.template window<T>({std::int64_t{depth} * shown_.lanes,
                                         message_of(detail::chunk_of<T>(options.chunk))})) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0
  // and the same root.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Rank root) const {
    const bool sends = root == fabric.rank();
    if (root.value >= fabric.size() || !detail::holds_call(to, count, from, sends ? count : 0, 0))
      return WaitStatus::invalid;
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    detail::describe_collective<T>(fabric, "Broadcast", shown_, root.value, count);
    const Counter note = shown_.refusal(fabric.lane());
    const Epoch before{fabric.counter(shown_.epoch(fabric.lane()))};
    const bool refused = Refusal::stands(fabric, note);
    fabric.converge();  // all threads have read the counters
    if (refused) return WaitStatus::refused;
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    if (mine.count == 0) return WaitStatus::ok;  // on every rank alike
    const Messages messages{before, mine, slots_.cols};
    auto tile = fabric.template tile<T, 1, C>();
    const WaitStatus status =
        sends ? send(fabric, tile, detail::as_run(to), detail::as_run(from), messages)
              : receive(fabric, tile, detail::as_run(to), root, messages);
    if (fabric.thread() == 0)
      fabric.set_counter(shown_.epoch(fabric.lane()), messages.last().value);
    (void)Refusal::after(fabric, note, status);
    fabric.converge();  // before any thread reads them again
    return status;
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return shown_; }

 private:
  // Those of one call: `before` was the last of the call before.
  struct Messages {
    Epoch before;
    Share share;
    std::int64_t most;

    [[nodiscard]] MUSTER_FN constexpr std::uint32_t count() const {
      return static_cast<std::uint32_t>((share.count + most - 1) / most);
    }
    [[nodiscard]] MUSTER_FN constexpr Epoch number(std::uint32_t index) const {
      return Epoch{before.value + 1 + index};
    }
    [[nodiscard]] MUSTER_FN constexpr Epoch last() const { return Epoch{before.value + count()}; }
    [[nodiscard]] MUSTER_FN constexpr Share part(std::uint32_t index) const {
      const std::int64_t at = index * most;
      return Share{share.first + at, share.count - at < most ? share.count - at : most};
    }
  };

  template <class F, class Tile, class To, class From>
  MUSTER_FN WaitStatus send(F& fabric, Tile& tile, To to, From from, Messages messages) const {
    for (std::uint32_t index = 0; index < messages.count(); ++index) {
      const Epoch number = messages.number(index);
      if (index >= depth) {
        const WaitStatus status = all_read(fabric, Epoch{number.value - depth});
        if (status != WaitStatus::ok) return status;
      }
      const Share part = messages.part(index);
      detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
        fabric.load(tile, from, detail::run_box(part.first + at, length));
        fabric.store(tile, slots_, slot(fabric, number, at, length));
        fabric.store(tile, to, detail::run_box(part.first + at, length));
      });
      fabric.converge();  // all threads have written
      for_each_peer(fabric, [&](Rank peer) {
        // Pairs with the wait in receive.
        fabric.notify(shown_.from(fabric.lane(), fabric.rank()), peer, number.value, NotifyOp::set,
                      Order::release);
      });
    }
    return all_read(fabric, messages.last());
  }

  template <class F, class Tile, class To>
  MUSTER_FN WaitStatus receive(F& fabric, Tile& tile, To to, Rank root, Messages messages) const {
    for (std::uint32_t index = 0; index < messages.count(); ++index) {
      const Epoch number = messages.number(index);
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0)
        status = fabric.wait(shown_.from(fabric.lane(), root), Compare::ge, number.value,
                             Order::acquire);
      status = fabric.converge(status);
      if (status != WaitStatus::ok) return status;
      const Share part = messages.part(index);
      detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
        fabric.remote_load(tile, slots_, root, slot(fabric, number, at, length));
        fabric.store(tile, to, detail::run_box(part.first + at, length));
      });
      if (index % 2 == 0 && number != messages.last()) continue;
      fabric.converge();         // all threads have read
      if (fabric.thread() == 0)  // pairs with all_read
        fabric.notify(read_.from(fabric.lane(), fabric.rank()), root, number.value, NotifyOp::set,
                      Order::relaxed);
    }
    return WaitStatus::ok;
  }

  // Until every peer has read the message: the same status to all threads.
  template <class F>
  MUSTER_FN WaitStatus all_read(F& fabric, Epoch number) const {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.wait(read_.from(fabric.lane(), peer), Compare::ge, number.value,
                                         Order::relaxed));
    });
    return fabric.converge(status);
  }

  template <class F>
  [[nodiscard]] MUSTER_FN static Box slot(const F& fabric, Epoch number, std::int64_t at,
                                          std::int64_t count) {
    return Box{std::int64_t{depth} * fabric.lane().value + number.value % depth, at, 1, count};
  }

  [[nodiscard]] static constexpr std::int64_t message_of(std::int64_t chunk) {
    const std::int64_t part = chunk / depth;
    if (part >= C) return part;
    return chunk < C ? chunk : C;
  }

  Rows shown_;
  Rows read_;
  WindowRef<T> slots_;
};

}  // namespace muster
