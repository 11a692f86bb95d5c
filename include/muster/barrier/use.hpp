// What a barrier orders. Passed to arrive() or sync() of every barrier.
#pragma once

#include "muster/types.hpp"

namespace muster {

// The order of a barrier's notifies and of its waits.
struct BarrierUse {
  Order notify = Order::release;
  Order wait = Order::acquire;
};

// The three legal relaxed uses have names; any other weakening is refused by the checker.
//
// A barrier that sets its cells (EpochBarrier, DisseminationBarrier, SystemBarrier) keeps to one
// order of notify: a peer that still waits for a release deposit may already read the relaxed one
// of the next call in its place, and acquires nothing. Take a second barrier object for the other
// use.
namespace use {

// Everything before the barrier on every rank is visible to everything after it on every rank.
inline constexpr BarrierUse full{Order::release, Order::acquire};

// At the head of a kernel: what EARLIER kernels wrote (released by their end, contract 10) becomes
// visible. What this lane wrote since its kernel began is not carried.
inline constexpr BarrierUse entry{Order::relaxed, Order::acquire};

// At the tail of a kernel: the peers have finished READING this lane's buffers, so that later work
// may overwrite them. Rests on contract 5; nothing that was written is made visible.
inline constexpr BarrierUse exit{Order::relaxed, Order::relaxed};

// The ranks meet; no data is spoken for.
inline constexpr BarrierUse rendezvous{Order::relaxed, Order::relaxed};

}  // namespace use
}  // namespace muster
