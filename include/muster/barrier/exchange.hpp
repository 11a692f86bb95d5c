// What EpochBarrier is, and SystemBarrier begins with: each lane trades epochs with the same lane
// of every other rank.
#pragma once

#include <cstdint>

#include "muster/barrier/target.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"

namespace muster {

// One store and one wait per peer, dealt out over the threads of the lane. No deposit can be lost:
// one writer per cell, values only grow, ge is wrap-safe, and a peer is at most one epoch ahead.
class EpochExchange {
 public:
  // The thread's part: the epoch and, looked up before a loop, what it sends to and hears from its
  // first peer. A thread that is left over names the last one's peer.
  template <Fabric F>
  struct State {
    Epoch epoch;
    Target<F> mine;
    Target<F> theirs;
    // Of threads that have a peer; 0 where one has several, or nobody has any. The same to all
    // threads, even where the fabric has refused something to some: they go one way.
    std::uint32_t count;
    std::uint32_t sends;  // count, or 0 in a thread that may not notify
  };

  EpochExchange() = default;
  MUSTER_FN explicit constexpr EpochExchange(Rows rows) : rows_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Epoch last(F& fabric) const {
    return Epoch{fabric.counter(rows_.epoch(fabric.lane()))};
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, Epoch epoch) const {
    const std::uint32_t peers = fabric.size() - 1;
    const std::uint32_t step = 1 + fabric.thread();
    const Rank peer = to_the_right(fabric, step < peers ? step : peers);
    const Target<F> mine(fabric, rows_.from(fabric.lane(), fabric.rank()), peer);
    const Target<F> theirs(fabric, rows_.from(fabric.lane(), peer), fabric.rank());
    const std::uint32_t count = peers <= fabric.threads() ? peers : 0;
    return {epoch, mine, theirs, opaque(count), opaque(mine.valid() ? count : 0)};
  }

  // Called by all threads of the lane, after a converge: what they wrote before is deposited.
  template <Fabric F>
  MUSTER_FN void announce(F& fabric, const State<F>& state, Order order) const {
    // Pairs with the peer's wait below on the cell that this rank writes.
    if (fabric.thread() < state.sends)
      state.mine.notify(fabric, state.epoch.value, NotifyOp::set, order);
    if (state.count != 0) [[likely]]
      return;
    outlined(fabric, [rows = rows_, epoch = state.epoch, order](F& lane) {
      for_each_peer(lane, [&](Rank peer) {
        lane.notify(rows.from(lane.lane(), lane.rank()), peer, epoch.value, NotifyOp::set, order);
      });
    });
  }

  // Once the lane has heard from all peers: the same status to all threads.
  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, Order order) const {
    if (state.count != 0) [[likely]]
      return state.theirs.wait_converge(fabric, state.count, Compare::ge, state.epoch.value, order);
    const auto all = [rows = rows_, epoch = state.epoch, order](F& lane) {
      WaitStatus status = WaitStatus::ok;
      for_each_peer(lane, [&](Rank peer) {
        const Signal theirs = rows.from(lane.lane(), peer);
        status = worst(status, lane.wait(theirs, Compare::ge, epoch.value, order));
      });
      return status;
    };
    return fabric.converge(outlined(fabric, all));
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, Epoch epoch) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), epoch.value);
  }

 private:
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static Rank to_the_right(const F& fabric, std::uint32_t step) {
    const std::uint32_t sum = fabric.rank().value + step;
    return Rank{sum < fabric.size() ? sum : sum - fabric.size()};
  }

  Rows rows_;
};

}  // namespace muster
