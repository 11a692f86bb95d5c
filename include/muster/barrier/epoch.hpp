// EpochBarrier: the default. One store and one wait per peer.
#pragma once

#include "muster/barrier/counting.hpp"
#include "muster/barrier/exchange.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// Cost per rank and call, P ranks: 1 round, P-1 notifies, P-1 waits, 0 bytes.
//
// Who advances: the calling lane, its own counter, after the waits. No deposit can be lost: see
// EpochExchange.
//
// After a wait that was not `ok` the epoch is advanced all the same, and the barrier may be called
// again: the call itself has ordered nothing, but no later one takes it for another, since each
// cell has one writer, whose value says which of its calls it has made. This holds where every rank
// calls equally often: one that repeats a call that its peers make once is a call ahead from then
// on, and they pass at its next deposit before it has made theirs. So an expired wait fails the
// team unless it was made with `.on_expiry = retry`.
//
// Plain bytes: copy it into bodies and kernels. It owns its rows; no two barriers share any.
class EpochBarrier : public Counting<EpochBarrier, Epoch, AfterFailure::again> {
 public:
  EpochBarrier() = default;
  template <SetUp T>
  explicit EpochBarrier(T& team) : exchange_(*team.rows()) {}
  MUSTER_FN explicit constexpr EpochBarrier(Rows rows) : exchange_(rows) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.rows(); }

 private:
  friend Counting;
  template <Fabric F>
  using State = EpochExchange::State<F>;

  template <Fabric F>
  MUSTER_FN void tell(F& fabric, Epoch last) const {
    describe(fabric, CallSignature{.name = "EpochBarrier",
                                   .detail = {rows().first.cell, 0},
                                   .number = last.next().value});
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Epoch last(F& fabric) const {
    return exchange_.last(fabric);
  }
  template <Fabric F>
  [[nodiscard]] MUSTER_FN State<F> at(F& fabric, Epoch epoch) const {
    return exchange_.at(fabric, epoch);
  }
  template <class State>
  [[nodiscard]] MUSTER_FN static Epoch count(const State& state) {
    return state.epoch;
  }

  template <Fabric F>
  MUSTER_FN void announce(F& fabric, State<F>& state, BarrierUse use) const {
    state.epoch = state.epoch.next();
    // The notifying thread speaks for what all threads of the lane wrote; and all have read the
    // epoch.
    fabric.converge();
    exchange_.announce(fabric, state, use.notify);
  }

  template <Fabric F>
  MUSTER_FN WaitStatus await(F& fabric, const State<F>& state, BarrierUse use) const {
    return exchange_.await(fabric, state, use.wait);
  }

  template <Fabric F>
  MUSTER_FN void keep(F& fabric, const State<F>& state) const {
    exchange_.keep(fabric, state.epoch);
  }

  EpochExchange exchange_;
};

}  // namespace muster
