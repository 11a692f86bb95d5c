// Reads of a cell that also write it: hand and take, and fetched operations. Included by
// muster/fabric/host.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "muster/fabric/host.hpp"
#include "muster/fabric/host/order.hpp"
#include "muster/types.hpp"

namespace muster::host {

// A cell has one handing and one taking thread, so a load and a store do what a compare-and-swap
// would.
inline WaitStatus Fabric::hand(Signal signal, Rank peer, Order order) {
  if (!admits(signal, peer)) [[unlikely]]
    return ending();
  const WaitStatus status = block(signal, peer, Compare::eq, 0, detail::load_order(Order::relaxed));
  if (status != WaitStatus::ok) return status;
  // Pairs with the acquire load of the peer's take.
  detail::deposit(std::atomic_ref<std::uint32_t>(cell_of(signal, peer)), 1, order);
  wake(signal, peer);
  return status;
}

inline WaitStatus Fabric::take(Signal signal, Order order) {
  if (!admits(signal, context_.rank)) [[unlikely]]
    return ending();
  const WaitStatus status = block(signal, context_.rank, Compare::eq, 1, detail::load_order(order));
  if (status != WaitStatus::ok) return status;
  std::atomic_ref<std::uint32_t>(cell_of(signal, context_.rank))
      .store(0, detail::store_order(Order::relaxed));
  wake(signal, context_.rank);  // a hand may sleep on this cell
  return status;
}

// Of the fetched ones, a release pairs with whoever acquires the value that they leave, an acquire
// with whoever released into the value that they find. A loop of them ends where the team has
// failed, as one of tests does, whether they change anything or not.
inline Fetched Fabric::fetched(Signal signal, Rank peer, std::uint32_t found, bool changed) {
  if (changed) wake(signal, peer);
  const WaitStatus status = failure_or_pending();
  return {status == WaitStatus::pending ? WaitStatus::ok : status, found};
}

inline Fetched Fabric::fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order,
                                 Scope /*one host is one scope*/) {
  if (!admits(signal, peer)) [[unlikely]]
    return {ending(), 0};
  const std::atomic_ref<std::uint32_t> cell(cell_of(signal, peer));
  return fetched(signal, peer, cell.fetch_add(value, detail::fetch_order(order)), value != 0);
}

inline Fetched Fabric::exchange(Signal signal, Rank peer, std::uint32_t value, Order order,
                                Scope /*one host is one scope*/) {
  if (!admits(signal, peer)) [[unlikely]]
    return {ending(), 0};
  const std::atomic_ref<std::uint32_t> cell(cell_of(signal, peer));
  const std::uint32_t found = cell.exchange(value, detail::fetch_order(order));
  return fetched(signal, peer, found, found != value);
}

inline Fetched Fabric::compare_swap(Signal signal, Rank peer, std::uint32_t expected,
                                    std::uint32_t desired, Order order,
                                    Scope /*one host is one scope*/) {
  if (!admits(signal, peer)) [[unlikely]]
    return {ending(), 0};
  const std::atomic_ref<std::uint32_t> cell(cell_of(signal, peer));
  std::uint32_t found = expected;
  const bool swapped = cell.compare_exchange_strong(found, desired, detail::fetch_order(order),
                                                    detail::load_order(acquire_part(order)));
  return fetched(signal, peer, found, swapped && desired != expected);
}

}  // namespace muster::host
