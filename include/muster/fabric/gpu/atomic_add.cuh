// Adding to memory that other GPUs add to at the same time.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include "muster/types.hpp"

namespace muster::gpu::detail {

// Narrow types, and those that only their header knows: exchanges the word that holds the element.
// A function of its own, that all tiles share: the bus takes longer than any call.
template <class T>
[[gnu::noinline]] MUSTER_FN void exchange_add(T* element, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2, "remote_add takes numbers of 1 to 8 bytes");
  const auto address = reinterpret_cast<std::uintptr_t>(element);
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system> word(
      *reinterpret_cast<std::uint32_t*>(address & ~std::uintptr_t{3}));
  const auto shift = static_cast<std::uint32_t>(address & 3) * 8;
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  constexpr std::uint32_t ones = static_cast<Bits>(~Bits{0});
  std::uint32_t seen = word.load(cuda::memory_order_relaxed);
  std::uint32_t wanted = 0;
  do {
    const auto old_bits = static_cast<Bits>(seen >> shift);
    T sum;
    std::memcpy(static_cast<void*>(&sum), &old_bits, sizeof(T));
    sum = static_cast<T>(sum + value);
    Bits new_bits;
    std::memcpy(&new_bits, &sum, sizeof(T));
    wanted = (seen & ~(ones << shift)) | (static_cast<std::uint32_t>(new_bits) << shift);
  } while (!word.compare_exchange_weak(seen, wanted, cuda::memory_order_relaxed));
}

// Nobody reads the element before a barrier.
template <class T>
MUSTER_FN void atomic_add(T* element, T value) {
  if constexpr (sizeof(T) >= 4 && std::is_arithmetic_v<T>)
    cuda::atomic_ref<T, cuda::thread_scope_system>(*element).fetch_add(value,
                                                                       cuda::memory_order_relaxed);
  else
    exchange_add(element, value);
}

}  // namespace muster::gpu::detail
