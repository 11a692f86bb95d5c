// A barrier for a loop: what it keeps between calls stays in registers.
#pragma once

#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// What scoped() of a barrier passes to its body. The body calls sync(), or arrive() and wait() in
// turn, as often as it likes. The barrier's counters are read once before and written once after,
// by one thread, behind the last call's converge.
//
//   const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
//     for (int i = 0; i < steps && scope.sync() == WaitStatus::ok; ++i) ...
//   });
//
// A barrier that offers it has, with State and Arrival as plain bytes:
//
//   State begin(fabric)                     what the calls before have left; any thread
//   Arrival announce(fabric, State&, use)   converges, deposits, moves the state on
//   WaitStatus await(fabric, arrival)       this thread's waits; no converge at the end
//   void keep(fabric, State)                back into the counters, by one thread for each
template <class Barrier, Fabric F>
class BarrierScope {
 public:
  MUSTER_FN BarrierScope(const Barrier& barrier, F& fabric, BarrierUse use)
      : barrier_(barrier), fabric_(fabric), use_(use), state_(barrier.begin(fabric)) {}

  MUSTER_FN void arrive() {
    arrival_ = barrier_.announce(fabric_, state_, use_);
    used_ = true;
  }

  // The same status to all threads.
  MUSTER_FN WaitStatus wait() {
    const WaitStatus status = fabric_.converge(barrier_.await(fabric_, arrival_));
    status_ = worst(status_, status);
    return status;
  }

  MUSTER_FN WaitStatus sync() {
    arrive();
    return wait();
  }

  // The worst status of all calls. Called once, by scoped().
  MUSTER_FN WaitStatus end() {
    if (!used_) return status_;
    // Every thread has read the counters: that was before the first call's converge.
    barrier_.keep(fabric_, state_);
    fabric_.converge();  // before any thread reads them again
    return status_;
  }

 private:
  const Barrier& barrier_;
  F& fabric_;
  BarrierUse use_;
  typename Barrier::State state_;
  typename Barrier::Arrival arrival_{};
  WaitStatus status_ = WaitStatus::ok;
  bool used_ = false;
};

}  // namespace muster
