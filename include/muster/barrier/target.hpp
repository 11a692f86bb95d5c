// A peer's signal for a loop that notifies it again and again.
#pragma once

#include <concepts>
#include <cstdint>

#include "muster/fabric.hpp"

namespace muster {

// A fabric may look an address up once: resolve(signal, peer) returns what its notify takes in
// place of the two. It means the same, and saves the look-up where it would be felt. One that is
// not valid() (the fabric has refused the signal or the peer) must not be notified.
template <class F>
concept ResolvingFabric = Fabric<F> && requires(F& fabric, Signal signal, Rank peer) {
  fabric.notify(fabric.resolve(signal, peer), 1U, NotifyOp::set, Order::release);
  { fabric.resolve(signal, peer).valid() } -> std::same_as<bool>;
};

template <Fabric F>
class Target {
 public:
  MUSTER_FN Target(F&, Signal signal, Rank peer) : signal_(signal), peer_(peer) {}
  [[nodiscard]] MUSTER_FN bool valid() const { return true; }
  MUSTER_FN void notify(F& fabric, std::uint32_t value, NotifyOp op, Order order) const {
    fabric.notify(signal_, peer_, value, op, order);
  }

 private:
  Signal signal_;
  Rank peer_;
};

template <ResolvingFabric F>
class Target<F> {
 public:
  MUSTER_FN Target(F& fabric, Signal signal, Rank peer) : place_(fabric.resolve(signal, peer)) {}
  [[nodiscard]] MUSTER_FN bool valid() const { return place_.valid(); }
  MUSTER_FN void notify(F& fabric, std::uint32_t value, NotifyOp op, Order order) const {
    fabric.notify(place_, value, op, order);
  }

 private:
  typename F::Target place_;
};

}  // namespace muster
