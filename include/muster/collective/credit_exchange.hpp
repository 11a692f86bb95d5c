// What a Stage meets with where its cells must be zero at the end: the credit form of
// EpochExchange.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/barrier/exchange.hpp"
#include "muster/collective/call.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Each lane adds 1 to its cell at the same lane of every other rank, waits until each of its own is
// 1 or more, and takes that 1 back: an add, by the thread that has waited, before its next wait. So
// what a fast peer has added for the next meeting stays, and all cells are zero when all ranks have
// returned. The epoch, which says what half of a Stage is used, stays in its counter.
//
// A wait that was not `ok` takes nothing back: the lane must not come again (Stage refuses it).
class CreditExchange {
 public:
  template <Fabric F>
  struct State {
    Epoch epoch;
  };

  CreditExchange() = default;
  MUSTER_FN explicit constexpr CreditExchange(Rows rows) : epochs_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return epochs_.rows(); }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Epoch last(F& fabric) const {
    return epochs_.last(fabric);
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& /*fabric*/, Epoch epoch) const {
    return {epoch};
  }
  template <Fabric F>
  MUSTER_FN void keep(F& fabric, Epoch epoch) const {
    epochs_.keep(fabric, epoch);
  }

  // Called by all threads of the lane, after a converge: what they wrote before is deposited.
  template <Fabric F>
  MUSTER_FN void announce(F& fabric, const State<F>& /*state*/, Order order) const {
    const Signal mine = rows().from(fabric.lane(), fabric.rank());
    // Pairs with the peer's wait below.
    for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add, order); });
  }

  // Once the lane has heard from all peers: the same status to all threads.
  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& /*state*/, Order order) const {
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows().from(fabric.lane(), peer);
      const WaitStatus one = fabric.wait(theirs, Compare::ge, 1, order);
      // To the own rank: it has taken effect on return. Relaxed: it speaks to nobody.
      if (one == WaitStatus::ok)
        fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
      status = worst(status, one);
    });
    return fabric.converge(status);
  }

 private:
  EpochExchange epochs_;  // for its rows and counters
};

template <Cells cells>
using ExchangeOf = std::conditional_t<cells == Cells::credits, CreditExchange, EpochExchange>;

}  // namespace muster
