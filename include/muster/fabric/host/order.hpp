// The orders of the concept as this processor and this compiler have them. Included by
// muster/fabric/host.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "muster/types.hpp"

namespace muster::host::detail {

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer cannot express contract 5 (a relaxed wait precedes later stores), so it sees
// the orders that the hardware gives here anyway.
[[nodiscard]] constexpr std::memory_order store_order(Order) {
  return std::memory_order_release;
}
[[nodiscard]] constexpr std::memory_order load_order(Order) {
  return std::memory_order_acquire;
}
[[nodiscard]] constexpr std::memory_order fetch_order(Order) {
  return std::memory_order_acq_rel;
}
#else
[[nodiscard]] constexpr std::memory_order store_order(Order order) {
  return order == Order::relaxed ? std::memory_order_relaxed : std::memory_order_release;
}
[[nodiscard]] constexpr std::memory_order load_order(Order order) {
  return order == Order::relaxed ? std::memory_order_relaxed : std::memory_order_acquire;
}
[[nodiscard]] constexpr std::memory_order fetch_order(Order order) {
  return order == Order::relaxed   ? std::memory_order_relaxed
         : order == Order::acquire ? std::memory_order_acquire
         : order == Order::release ? std::memory_order_release
                                   : std::memory_order_acq_rel;
}
#endif

// A branch on the order instead of a variable one: for that the compiler takes the strongest
// store, which waits until every earlier one has left the core.
inline void deposit(std::atomic_ref<std::uint32_t> cell, std::uint32_t value, Order order) {
  if (store_order(order) == std::memory_order_relaxed) {
    cell.store(value, std::memory_order_relaxed);
  } else {
    cell.store(value, std::memory_order_release);  // pairs with who waits for the value
  }
}

// Contract 5: what was loaded before is done before any later store. x86 orders loads before
// later stores; elsewhere a load barrier does.
inline void complete_loads() {
#if defined(__x86_64__)
  std::atomic_signal_fence(std::memory_order_seq_cst);
#elif defined(__aarch64__)
  asm volatile("dmb ishld" ::: "memory");
#else
#error "the host fabric needs to know how this processor completes loads"
#endif
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace muster::host::detail
