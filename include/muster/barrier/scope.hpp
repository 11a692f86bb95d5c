// A barrier for a loop: what it keeps between calls stays in registers.
#pragma once

#include "muster/barrier/refusal.hpp"
#include "muster/barrier/target.hpp"
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
// A barrier that offers it has, with State<F> as plain bytes:
//
//   survives                              may a lane call it again after a call that has failed?
//   Counter refusal(fabric)               if not: where that is noted
//   State<F> begin(fabric)                what earlier calls have left, and addresses; any thread
//   void announce(fabric, state&, use)    moves the state on, converges, deposits
//   void keep(fabric, state)              into the counters, by one thread for each
//   WaitStatus await(fabric, state, use)  waits, and converges at the end
template <class Barrier, Fabric F>
class BarrierScope {
 public:
  MUSTER_FN BarrierScope(const Barrier& barrier, F& fabric, BarrierUse use)
      : barrier_(barrier), fabric_(fabric), use_(use), state_(barrier.begin(fabric)) {
    if constexpr (!Barrier::survives)
      if (Refusal::stands(fabric, barrier.refusal(fabric))) status_ = WaitStatus::refused;
  }

  MUSTER_FN void arrive(CallSite<F> site = {}) {
    const Called called(fabric_, site);
    if (refused()) [[unlikely]]
      return;
    barrier_.announce(fabric_, state_, use_);
    used_ = true;
  }

  // The same status to all threads.
  MUSTER_FN WaitStatus wait(CallSite<F> site = {}) {
    const Called called(fabric_, site);
    if (refused()) [[unlikely]]
      return WaitStatus::refused;
    const OneCall call(fabric_);
    const WaitStatus status = barrier_.await(fabric_, state_, use_);
    status_ = worst(status_, status);
    return status;
  }

  MUSTER_FN WaitStatus sync(CallSite<F> site = {}) {
    const Called called(fabric_, site);
    const OneCall call(fabric_);
    arrive();
    return wait();
  }

  // The worst status of all calls. Called once, by scoped().
  MUSTER_FN WaitStatus end(CallSite<F> site) {
    const Called called(fabric_, site);
    if (!used_) return status_;
    // Every thread has read the counters: that was before the first call's converge.
    barrier_.keep(fabric_, state_);
    if constexpr (!Barrier::survives)
      (void)Refusal::after(fabric_, barrier_.refusal(fabric_), status_);
    fabric_.converge();  // before any thread reads them again
    return status_;
  }

 private:
  [[nodiscard]] MUSTER_FN bool refused() const {
    return !Barrier::survives && status_ != WaitStatus::ok;
  }

  const Barrier& barrier_;
  F& fabric_;
  BarrierUse use_;
  typename Barrier::template State<F> state_;
  WaitStatus status_ = WaitStatus::ok;
  bool used_ = false;
};

// What the barriers are made of. They befriend it.
struct BarrierSteps {
  // The first half of a call that stands alone; true where it is refused, the same to all threads.
  template <class Barrier, Fabric F>
  [[nodiscard]] MUSTER_FN static bool arrive(const Barrier& barrier, F& fabric,
                                             typename Barrier::template State<F>& state,
                                             BarrierUse use) {
    if constexpr (!Barrier::survives) {
      if (Refusal::stands(fabric, barrier.refusal(fabric))) [[unlikely]] {
        fabric.converge();  // all threads have looked
        return true;
      }
    }
    barrier.announce(fabric, state, use);
    return false;
  }

  // The wait of a call that stands alone; the same status to all threads. The counters move even
  // where it fails. All threads have read them before the converge of announce, and none reads them
  // again before the one that ends await.
  template <class Barrier, Fabric F>
  MUSTER_FN static WaitStatus wait(const Barrier& barrier, F& fabric,
                                   const typename Barrier::template State<F>& state, BarrierUse use,
                                   bool refused = false) {
    const OneCall call(fabric);
    return finish(barrier, fabric, state, use, refused);
  }

  // A call that stands alone: addresses are looked up while the counter is on its way from memory.
  template <class Barrier, Fabric F>
  MUSTER_FN static WaitStatus sync(const Barrier& barrier, F& fabric, BarrierUse use) {
    const OneCall call(fabric);
    auto state = barrier.begin(fabric);
    const bool refused = arrive(barrier, fabric, state, use);
    return finish(barrier, fabric, state, use, refused);
  }

  // body(scope) makes the calls; the worst status of them all.
  template <class Barrier, Fabric F, class Body>
  MUSTER_FN static WaitStatus scoped(const Barrier& barrier, F& fabric, Body&& body, BarrierUse use,
                                     CallSite<F> site) {
    auto scope = open(barrier, fabric, use, site);
    body(scope);
    return scope.end(site);
  }

 private:
  template <class Barrier, Fabric F>
  [[nodiscard]] MUSTER_FN static BarrierScope<Barrier, F> open(const Barrier& barrier, F& fabric,
                                                               BarrierUse use, CallSite<F> site) {
    const Called called(fabric, site);  // what it has begun with, not the body
    return BarrierScope<Barrier, F>(barrier, fabric, use);
  }

  // The second half of a call.
  template <class Barrier, Fabric F>
  MUSTER_FN static WaitStatus finish(const Barrier& barrier, F& fabric,
                                     const typename Barrier::template State<F>& state,
                                     BarrierUse use, bool refused) {
    if constexpr (!Barrier::survives)
      if (refused) [[unlikely]]
        return WaitStatus::refused;
    barrier.keep(fabric, state);
    const WaitStatus status = barrier.await(fabric, state, use);
    if constexpr (Barrier::survives)
      return status;
    else
      return Refusal::after(fabric, barrier.refusal(fabric), status);
  }
};

}  // namespace muster
