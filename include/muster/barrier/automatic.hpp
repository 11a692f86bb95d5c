// Barrier: flat or dissemination, by the number of ranks.
#pragma once

#include "muster/barrier/dissemination.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

enum class BarrierAlgorithm : std::uint8_t { automatic, flat, dissemination };

// From so many ranks on the barrier in rounds is the faster one, where a rank deposits to one peer
// after another and every rank has a core to itself. Measured, dissemination over flat, processes
// on one host of 64 cores (Xeon, 2026-11-29, medians of 9):
//
//   ranks                        4     6     8    10    12    16    24    32    48
//   a core each, pinned       1.09  1.11  0.98  1.11  0.90  0.69  0.58  0.45  0.35
//
// Where ranks share cores, each round waits for another rank to get its turn, and flat stays ahead
// (16 cores, of which these, 2026-11-30):
//
//   ranks                        4     8    12    16    24    32    64
//   on 2 cores                1.30  1.62  1.73  1.92  1.94  1.89  2.01
//   on 4 cores                      1.59        1.97        2.10  1.93
inline constexpr std::uint32_t least_ranks_in_rounds = 12;

[[nodiscard]] MUSTER_FN constexpr BarrierAlgorithm barrier_algorithm(std::uint32_t ranks,
                                                                     bool has_core_each) {
  return has_core_each && ranks >= least_ranks_in_rounds ? BarrierAlgorithm::dissemination
                                                         : BarrierAlgorithm::flat;
}

namespace detail {
// Set-ups that do not say are those whose lanes deposit to all peers at once (a GPU), or where
// nothing is timed (the model): flat.
template <class Team>
[[nodiscard]] bool has_core_each(const Team& team) {
  if constexpr (requires { team.has_core_each(); })
    return team.has_core_each();
  else
    return false;
}
}  // namespace detail

// EpochBarrier or DisseminationBarrier, whichever is faster for the team's ranks, or the one that
// is asked for; every rank asks for the same. Cost, orders and what a failed wait leaves
// behind are that one's. Both keep one epoch in the same rows, and an object only ever uses one of
// them.
class Barrier {
 public:
  struct [[nodiscard]] Arrival {
    Epoch epoch;
    BarrierUse use;
  };

  Barrier() = default;
  template <SetUp T>
  explicit Barrier(T& team, BarrierAlgorithm algorithm = BarrierAlgorithm::automatic)
      : Barrier(*team.rows(), algorithm, detail::has_core_each(team)) {}
  MUSTER_FN explicit constexpr Barrier(Rows rows,
                                       BarrierAlgorithm algorithm = BarrierAlgorithm::automatic,
                                       bool has_core_each = false)
      : rows_(rows),
        algorithm_(algorithm == BarrierAlgorithm::automatic
                       ? barrier_algorithm(rows.ranks, has_core_each)
                       : algorithm) {}

  // Which one it is: flat or dissemination.
  [[nodiscard]] MUSTER_FN BarrierAlgorithm algorithm() const { return algorithm_; }

  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    return choose([&](auto barrier) {
      const auto arrival = barrier.arrive(fabric, use);
      return Arrival{arrival.count, arrival.use};
    });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    return choose([&](auto barrier) {
      return barrier.wait(fabric, {arrival.epoch, {}, arrival.use});
    });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    return choose([&](auto barrier) { return barrier.sync(fabric, use); });
  }

  // For loops: body(scope) calls scope.sync(), or scope.arrive() and scope.wait() in turn. Returns
  // the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full,
                              CallSite<F> site = {}) const {
    return choose([&](auto barrier) { return barrier.scoped(fabric, body, use, site); });
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return rows_; }

 private:
  template <class Visit>
  MUSTER_FN auto choose(Visit&& visit) const {
    return algorithm_ == BarrierAlgorithm::dissemination ? visit(DisseminationBarrier(rows_))
                                                         : visit(EpochBarrier(rows_));
  }

  Rows rows_;
  BarrierAlgorithm algorithm_ = BarrierAlgorithm::flat;
};

}  // namespace muster
