// A signal for a loop that notifies it, or waits for it, again and again.
#pragma once

#include <concepts>
#include <cstdint>

#include "muster/fabric.hpp"

namespace muster {

// A fabric may look an address up once: resolve(signal, owner) returns what its notify takes in
// place of the signal and the rank, and wait_converge below in place of the signal. One that is not
// valid() (the fabric has refused the signal or the rank) must not be notified; a wait on it fails.
template <class F>
concept ResolvingFabric = Fabric<F> && requires(F& fabric, Signal signal, Rank owner) {
  fabric.notify(fabric.resolve(signal, owner), 1U, NotifyOp::set, Order::release, Scope::system);
  {
    fabric.wait_converge(fabric.resolve(signal, owner), 1U, Compare::ge, 1U, Order::acquire,
                         Scope::system)
    } -> std::same_as<WaitStatus>;
  { fabric.resolve(signal, owner).valid() } -> std::same_as<bool>;
};

// `signal` as `owner` has it: a peer's may be notified, the own be waited for.
template <Fabric F>
class Target {
 public:
  MUSTER_FN Target(F&, Signal signal, Rank owner) : signal_(signal), owner_(owner) {}

  [[nodiscard]] MUSTER_FN bool valid() const { return true; }

  MUSTER_FN void notify(F& fabric, std::uint32_t value, NotifyOp op, Order order,
                        Scope scope = Scope::system) const {
    fabric.notify(signal_, owner_, value, op, order, scope);
  }

  // All threads of the lane meet once the first `count`, at least one, have seen their own signal
  // satisfy the condition; the worst status, the same to all. It is a wait and then a converge, in
  // one, because a warp that polls in step is faster than one that one thread keeps waiting. Each
  // other thread names a signal that one of the first waits for.
  MUSTER_FN WaitStatus wait_converge(F& fabric, std::uint32_t count, Compare compare,
                                     std::uint32_t value, Order order,
                                     Scope scope = Scope::system) const {
    return fabric.converge(fabric.thread() < count
                               ? fabric.wait(signal_, compare, value, order, scope)
                               : WaitStatus::ok);
  }

 private:
  Signal signal_;
  Rank owner_;
};

template <ResolvingFabric F>
class Target<F> {
 public:
  MUSTER_FN Target(F& fabric, Signal signal, Rank owner) : place_(fabric.resolve(signal, owner)) {}

  [[nodiscard]] MUSTER_FN bool valid() const { return place_.valid(); }

  MUSTER_FN void notify(F& fabric, std::uint32_t value, NotifyOp op, Order order,
                        Scope scope = Scope::system) const {
    fabric.notify(place_, value, op, order, scope);
  }

  MUSTER_FN WaitStatus wait_converge(F& fabric, std::uint32_t count, Compare compare,
                                     std::uint32_t value, Order order,
                                     Scope scope = Scope::system) const {
    return fabric.wait_converge(place_, count, compare, value, order, scope);
  }

 private:
  typename F::Target place_;
};

}  // namespace muster
