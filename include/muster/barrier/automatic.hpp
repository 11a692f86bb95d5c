// Barrier: flat or dissemination, by the number of ranks.
#pragma once

#include "muster/barrier/dissemination.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

enum class BarrierAlgorithm : std::uint8_t { automatic, flat, dissemination };

// The most ranks for which the flat barrier is the faster one.
inline constexpr std::uint32_t most_flat_ranks = 16;

[[nodiscard]] MUSTER_FN constexpr BarrierAlgorithm barrier_algorithm(std::uint32_t ranks) {
  return ranks <= most_flat_ranks ? BarrierAlgorithm::flat : BarrierAlgorithm::dissemination;
}

// EpochBarrier or DisseminationBarrier, whichever is faster for the team's number of ranks, or the
// one that is asked for; every rank asks for the same. Cost, orders and what a failed wait leaves
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
      : Barrier(*team.rows(), algorithm) {}
  MUSTER_FN explicit constexpr Barrier(Rows rows,
                                       BarrierAlgorithm algorithm = BarrierAlgorithm::automatic)
      : rows_(rows),
        algorithm_(algorithm == BarrierAlgorithm::automatic ? barrier_algorithm(rows.ranks)
                                                            : algorithm) {}

  // Which one it is: flat or dissemination.
  [[nodiscard]] MUSTER_FN BarrierAlgorithm algorithm() const { return algorithm_; }

  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full) const {
    return choose([&](auto barrier) {
      const auto arrival = barrier.arrive(fabric, use);
      return Arrival{arrival.epoch, arrival.use};
    });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival) const {
    return choose([&](auto barrier) { return barrier.wait(fabric, {arrival.epoch, arrival.use}); });
  }

  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full) const {
    return wait(fabric, arrive(fabric, use));
  }

  // For loops: body(scope) calls scope.sync(), or scope.arrive() and scope.wait() in turn. Returns
  // the worst status of all calls.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full) const {
    return choose([&](auto barrier) { return barrier.scoped(fabric, body, use); });
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
