// The network fabric's signals. Included by muster/fabric/ucx.hpp.
//
// Deposits of others come by put (4 bytes, aligned: one store of the processor or the adapter) and
// by atomic operations that are consistent with the processor's (the context asks UCX for those):
// so the own rank's go past UCX.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "muster/fabric/ucx.hpp"

namespace muster::ucx {

inline void Fabric::notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order,
                           Scope /*a network has one*/) {
  if (!admits(signal, peer)) [[unlikely]]
    return;
  if (!is_own(peer)) return context_.wire->notify(signal, peer, value, op, order);
  // Pairs with the acquire load of whoever waits, here or behind a fetched operation.
  if (op == NotifyOp::set)
    host::detail::deposit(word_of(signal), value, order);
  else
    word_of(signal).fetch_add(value, host::detail::store_order(order));
}

inline WaitStatus Fabric::wait(Signal signal, Compare compare, std::uint32_t value, Order order,
                               Scope) {
  if (!admits(signal, context_.rank)) [[unlikely]]
    return status();
  // Pairs with the release of the deposit: a put or an atomic that follows the flush of what it
  // carries, or a store of this rank.
  const std::uint32_t seen = word_of(signal).load(host::detail::load_order(order));
  if (satisfies(seen, compare, value)) return WaitStatus::ok;
  return context_.wire->wait(awaited(signal, compare, value), order, call_);
}

inline WaitStatus Fabric::test(Signal signal, Compare compare, std::uint32_t value, Order order,
                               Scope) {
  if (!admits(signal, context_.rank)) [[unlikely]]
    return status();
  for (int look = 0; look < 2; ++look) {
    const std::uint32_t seen = word_of(signal).load(host::detail::load_order(order));
    if (satisfies(seen, compare, value)) return WaitStatus::ok;
    if (look == 0) {
      const WaitStatus polled = context_.wire->poll();
      if (polled != WaitStatus::pending) return polled;
    }
  }
  return WaitStatus::pending;
}

inline AnyStatus Fabric::wait_any(const Condition* conditions, std::uint32_t count, Order order,
                                  Scope) {
  if (count == 0) {
    context_.wire->reject("wait_any: count is 0; at least one condition is needed");
    return {WaitStatus::invalid, 0};
  }
  std::vector<Awaited> all;
  all.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Condition& one = conditions[i];
    if (!admits(one.signal, context_.rank)) return {status(), 0};
    all.push_back(awaited(one.signal, one.compare, one.value));
  }
  return context_.wire->wait_any(all.data(), count, order, call_);
}

// A lane that has ended still sees its own cells.
inline std::uint32_t Fabric::read(Signal signal, Order order, Scope) {
  if (!is_cell(signal.segment, signal.cell)) [[unlikely]]
    return refuse(signal, context_.rank), 0;
  return word_of(signal).load(host::detail::load_order(order));
}

inline std::uint32_t Fabric::counter(Counter counter) {
  const Signal cell{counter.segment, counter.cell};
  if (!is_cell(counter.segment, counter.cell)) [[unlikely]]
    return refuse(cell, context_.rank), 0;
  return cell_of(counter.segment, counter.cell);
}
inline void Fabric::set_counter(Counter counter, std::uint32_t value) {
  const Signal cell{counter.segment, counter.cell};
  if (!is_cell(counter.segment, counter.cell)) [[unlikely]]
    return refuse(cell, context_.rank);
  cell_of(counter.segment, counter.cell) = value;
}

// A cell has one handing and one taking thread.
inline WaitStatus Fabric::hand(Signal signal, Rank peer, Order order) {
  if (!admits(signal, peer)) [[unlikely]]
    return status();
  if (!is_own(peer)) return context_.wire->hand(signal, peer, order, call_);
  const WaitStatus waited =
      context_.wire->wait(awaited(signal, Compare::eq, 0), Order::relaxed, call_);
  if (waited != WaitStatus::ok) return waited;
  host::detail::deposit(word_of(signal), 1, order);
  return waited;
}

inline WaitStatus Fabric::take(Signal signal, Order order) {
  const WaitStatus waited = wait(signal, Compare::eq, 1, order);
  if (waited != WaitStatus::ok) return waited;
  // The hand that follows finds the 0 by an atomic operation.
  word_of(signal).store(0, host::detail::store_order(Order::relaxed));
  return waited;
}

inline Fetched Fabric::fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order,
                                 Scope) {
  if (!admits(signal, peer)) [[unlikely]]
    return {status(), 0};
  if (!is_own(peer)) return context_.wire->fetch(Wire::Fetch::add, signal, peer, value, 0, order);
  context_.wire->progress();  // a loop of these may wait for what comes from afar
  return fetched(word_of(signal).fetch_add(value, host::detail::fetch_order(order)));
}

inline Fetched Fabric::exchange(Signal signal, Rank peer, std::uint32_t value, Order order, Scope) {
  if (!admits(signal, peer)) [[unlikely]]
    return {status(), 0};
  if (!is_own(peer))
    return context_.wire->fetch(Wire::Fetch::exchange, signal, peer, value, 0, order);
  context_.wire->progress();
  return fetched(word_of(signal).exchange(value, host::detail::fetch_order(order)));
}

inline Fetched Fabric::compare_swap(Signal signal, Rank peer, std::uint32_t expected,
                                    std::uint32_t desired, Order order, Scope) {
  if (!admits(signal, peer)) [[unlikely]]
    return {status(), 0};
  if (!is_own(peer))
    return context_.wire->fetch(Wire::Fetch::compare_swap, signal, peer, desired, expected, order);
  context_.wire->progress();
  std::uint32_t found = expected;
  word_of(signal).compare_exchange_strong(found, desired, host::detail::fetch_order(order),
                                          host::detail::load_order(acquire_part(order)));
  return fetched(found);
}

}  // namespace muster::ucx
