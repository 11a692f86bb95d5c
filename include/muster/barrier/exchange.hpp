// What EpochBarrier is, and SystemBarrier begins with: each lane trades epochs with the same lane of
// every other rank.
#pragma once

#include <cstdint>

#include "muster/barrier/target.hpp"
#include "muster/fabric.hpp"

namespace muster {

// One store and one wait per peer, dealt out over the threads of the lane. No deposit can be lost:
// one writer per cell, values only grow, ge is wrap-safe, and a peer is at most one epoch ahead.
class EpochExchange {
 public:
  // The thread's part: the epoch and, looked up before a loop, what it sends to and hears from its
  // first peer. A thread that is left over names the last one's peer, and neither sends nor needs
  // to hear.
  template <Fabric F>
  struct State {
    Epoch epoch;
    Target<F> mine;
    Target<F> theirs;
    bool has_peer;
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
    const std::uint32_t step = 1 + fabric.thread();
    const bool has_peer = step < fabric.size();
    const Rank peer = to_the_right(fabric, has_peer ? step : fabric.size() - 1);
    const Target<F> mine(fabric, rows_.from(fabric.lane(), fabric.rank()), peer);
    const Target<F> theirs(fabric, rows_.from(fabric.lane(), peer), fabric.rank());
    return {epoch, mine, theirs, has_peer && mine.valid() && theirs.valid()};
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, const State<F>& state, Order order) const {
    // Pairs with the peer's wait below on the cell that this rank writes.
    if (state.has_peer) state.mine.notify(fabric, state.epoch.value, NotifyOp::set, order);
    each_further_peer(fabric, [&](Rank peer) {
      fabric.notify(rows_.from(fabric.lane(), fabric.rank()), peer, state.epoch.value,
                    NotifyOp::set, order);
    });
  }

  // Once the lane has heard from all peers: the same status to all threads.
  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, Order order) const {
    WaitStatus status = WaitStatus::ok;
    if (fabric.size() == 1) return fabric.converge(status);
    each_further_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      status = worst(status, fabric.wait(theirs, Compare::ge, state.epoch.value, order));
    });
    return state.theirs.converge_after(fabric, state.has_peer, Compare::ge, state.epoch.value,
                                       order, Scope::system, status);
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, Epoch epoch) const {
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), epoch.value);
  }

 private:
  // Those that are left where the lane has fewer threads than the rank has peers.
  template <Fabric F, class Visit>
  MUSTER_FN static void each_further_peer(const F& fabric, Visit&& visit) {
    if (fabric.size() <= 1 + fabric.threads()) return;  // for all threads at once
    for (std::uint32_t step = 1 + fabric.thread() + fabric.threads(); step < fabric.size();
         step += fabric.threads())
      visit(to_the_right(fabric, step));
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN static Rank to_the_right(const F& fabric, std::uint32_t step) {
    const std::uint32_t sum = fabric.rank().value + step;
    return Rank{sum < fabric.size() ? sum : sum - fabric.size()};
  }

  Rows rows_;
};

}  // namespace muster
