// What arrive, wait, sync and scoped of a barrier do, written once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/barrier/refusal.hpp"
#include "muster/barrier/use.hpp"
#include "muster/fabric.hpp"

namespace muster {

// May a lane call the barrier again after a call that has failed on it, or is it refused from then
// on (see Refusal)?
enum class AfterFailure : std::uint8_t { again, refused };

namespace detail {
// In the place of a bool that is always false.
struct Never {
  constexpr Never() = default;
  MUSTER_FN constexpr Never(bool /*false*/) {}
  [[nodiscard]] MUSTER_FN constexpr operator bool() const { return false; }
};
}  // namespace detail

// The base of a barrier, which is empty: `class NAME : public Counting<NAME, Count, after>`. Count
// is what arrive carries to wait of a call, as plain bytes: its epoch, its sum. The barrier
// befriends its base and says, in private:
//
//   Count last(fabric)                    what earlier calls have left in the counters; any thread
//   void tell(fabric, count)              describes the call after those (muster::describe)
//   State<F> at(fabric, count)            that with the addresses that a call needs, as plain bytes
//   Count count(state)                    back again
//   void announce(fabric, state&, use)    moves the state on, converges, deposits
//   void keep(fabric, state)              into the counters, by one thread for each
//   WaitStatus await(fabric, state, use)  waits, and converges at the end
//   Counter refusal(fabric)               where a failure is noted, if it is refused afterwards
//   bool fits(fabric)                     if that can be false: has the barrier been made for this
//                                         lane? Where it has not, every call is `invalid`
//
// A Count that is a WaitStatus says itself that the call is refused.
//
// What is called here is called by all threads of the lane.
template <class Barrier, class Count, AfterFailure after>
class Counting {
  static constexpr bool survives = after == AfterFailure::again;
  // A compiler then joins all ways of a warp's threads before the waits, and asks there whether the
  // call is refused. With a bool beside the count, which it knows on each way, it keeps the refused
  // call apart to its end: FlipBarrier in loops of 32 threads took 1.08 to 1.41 times as long.
  static constexpr bool count_refuses = std::is_same_v<Count, WaitStatus>;

 public:
  // Carries the count from arrive to wait, so that nobody reads it between the converges.
  struct [[nodiscard]] Arrival {
    [[no_unique_address]] Count count;
    [[no_unique_address]] std::conditional_t<survives || count_refuses, detail::Never, bool>
        refused;
    BarrierUse use;
  };

  template <Fabric F>
  class Scoped;

  // What the lane wrote before is deposited for whom the barrier is.
  template <Fabric F>
  MUSTER_FN Arrival arrive(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    auto state = begin(fabric);
    self().tell(fabric, self().count(state));
    const bool refused = enter(fabric, state, use);
    return Arrival{self().count(state), refused, use};
  }

  // Once per arrival; the same status to all threads. The counters move even where it fails.
  template <Fabric F>
  MUSTER_FN WaitStatus wait(F& fabric, Arrival arrival, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const auto state = self().at(fabric, arrival.count);
    const OneCall call(fabric);
    return leave(fabric, state, arrival.use, arrival.refused);
  }

  // Both: addresses are looked up while the counter is on its way from memory.
  template <Fabric F>
  MUSTER_FN WaitStatus sync(F& fabric, BarrierUse use = use::full, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const OneCall call(fabric);
    auto state = begin(fabric);
    self().tell(fabric, self().count(state));
    const bool refused = enter(fabric, state, use);
    return leave(fabric, state, use, refused);
  }

  // For loops: body(scope), see Scoped; count, status and addresses stay in registers. Returns the
  // worst status of all calls, the same to all threads.
  template <Fabric F, class Body>
  MUSTER_FN WaitStatus scoped(F& fabric, Body&& body, BarrierUse use = use::full,
                              CallSite<F> site = {}) const {
    auto scope = open(fabric, use, site);
    body(scope);
    return scope.end(site);
  }

 protected:
  // For a barrier with more kinds of call than these.

  template <Fabric F>
  [[nodiscard]] MUSTER_FN auto begin(F& fabric) const {
    return self().at(fabric, self().last(fabric));
  }

  // The same to all threads, which have met where it is so.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN bool refuses(F& fabric) const {
    if (!fits_lane(fabric)) [[unlikely]]
      return true;
    if constexpr (!survives) {
      if (Refusal::stands(fabric, self().refusal(fabric))) [[unlikely]] {
        fabric.converge();  // all threads have looked
        return true;
      }
    }
    return false;
  }

  // What a call that is refused returns.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN WaitStatus refusal_status(F& fabric) const {
    return fits_lane(fabric) ? WaitStatus::refused : WaitStatus::invalid;
  }

  // All threads have read the counters before the converge of announce, and none reads them again
  // before the one that ends await.
  template <Fabric F, class State>
  MUSTER_FN WaitStatus leave(F& fabric, const State& state, BarrierUse use, bool refused) const {
    if constexpr (count_refuses) refused = self().count(state) == WaitStatus::refused;
    if constexpr (!survives)
      if (refused) [[unlikely]]
        return refusal_status(fabric);
    self().keep(fabric, state);
    const WaitStatus status = self().await(fabric, state, use);
    if constexpr (survives)
      return status;
    else
      return Refusal::after(fabric, self().refusal(fabric), status);
  }

 private:
  [[nodiscard]] MUSTER_FN const Barrier& self() const { return static_cast<const Barrier&>(*this); }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN bool fits_lane(F& fabric) const {
    if constexpr (requires { self().fits(fabric); })
      return self().fits(fabric);
    else
      return true;
  }

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Scoped<F> open(F& fabric, BarrierUse use, CallSite<F> site) const {
    const Called called(fabric, site);  // what it has begun with, not the body
    return Scoped<F>(self(), fabric, use);
  }

  // True where the call is refused, and its count does not say so.
  template <Fabric F, class State>
  [[nodiscard]] MUSTER_FN bool enter(F& fabric, State& state, BarrierUse use) const {
    if (refuses(fabric)) {
      if constexpr (count_refuses) state = WaitStatus::refused;
      return !count_refuses;
    }
    self().announce(fabric, state, use);
    return false;
  }
};

// What scoped() passes to its body, which calls sync(), or arrive() and wait() in turn, as often as
// it likes. The barrier's counters are read once before and written once after, by one thread,
// behind the last call's converge.
//
//   const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
//     for (int i = 0; i < steps && scope.sync() == WaitStatus::ok; ++i) ...
//   });
template <class Barrier, class Count, AfterFailure after>
template <Fabric F>
class Counting<Barrier, Count, after>::Scoped {
 public:
  MUSTER_FN Scoped(const Barrier& barrier, F& fabric, BarrierUse use)
      : barrier_(barrier), fabric_(fabric), use_(use), state_(barrier.begin(fabric)) {
    if (!barrier.fits_lane(fabric))
      status_ = WaitStatus::invalid;
    else if constexpr (!survives)
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
      return barrier_.refusal_status(fabric_);
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
    if constexpr (!survives) (void)Refusal::after(fabric_, barrier_.refusal(fabric_), status_);
    fabric_.converge();  // before any thread reads them again
    return status_;
  }

 private:
  [[nodiscard]] MUSTER_FN bool refused() const { return !survives && status_ != WaitStatus::ok; }

  const Barrier& barrier_;
  F& fabric_;
  BarrierUse use_;
  typename Barrier::template State<F> state_;
  WaitStatus status_ = WaitStatus::ok;
  bool used_ = false;
};

}  // namespace muster
