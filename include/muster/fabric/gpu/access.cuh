// Single accesses to signals with explicit order and scope, and what only a device can answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cuda/atomic>
#include <utility>

#include "muster/types.hpp"

namespace muster::gpu::detail {

// Everything here is annotated for host and device, because protocols are. On a host, what asks for
// threads and blocks ends the program; the rest works there too, so that lanes of one thread can be
// tried without a GPU.
[[noreturn]] MUSTER_FN inline void trap() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  std::abort();
#endif
}

// The thread's kernel ends here; the context stays usable. There is no such thing on a host.
template <bool may_go_on_host>
MUSTER_FN void end_kernel() {
#if defined(__CUDA_ARCH__)
  asm volatile("exit;");
#else
  if (!may_go_on_host) std::abort();
#endif
}

// visit(0), visit(1), ... visit(count - 1), written out: an array that is indexed by these stays in
// registers.
template <int count, class Visit>
MUSTER_FN void repeat(Visit&& visit) {
  [&]<int... index>(std::integer_sequence<int, index...>) {
    (visit(index), ...);
  }
  (std::make_integer_sequence<int, count>{});
}

// A number that the compiler does not know, so that it does not write out a loop of that length.
[[nodiscard]] MUSTER_FN inline int opaque(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

// ---- signals ------------------------------------------------------------------------------------

template <Scope scope>
inline constexpr cuda::thread_scope scope_of = scope == Scope::block    ? cuda::thread_scope_block
                                               : scope == Scope::device ? cuda::thread_scope_device
                                                                        : cuda::thread_scope_system;

// Accesses of one order and scope: st.release.sys, ld.acquire.sys and so on, never a fence.
// A release pairs with the acquire load of the rank whose signal it is, and the other way round.
template <Order order, Scope scope>
struct Access {
  static constexpr cuda::memory_order memory_order =
      order == Order::relaxed   ? cuda::memory_order_relaxed
      : order == Order::release ? cuda::memory_order_release
      : order == Order::acquire ? cuda::memory_order_acquire
                                : cuda::memory_order_acq_rel;
  using Word = cuda::atomic_ref<std::uint32_t, scope_of<scope>>;

  [[nodiscard]] MUSTER_FN static std::uint32_t load(std::uint32_t* cell) {
    return Word(*cell).load(memory_order);
  }
  MUSTER_FN static void store(std::uint32_t* cell, std::uint32_t value) {
    Word(*cell).store(value, memory_order);
  }
  // These return what the cell held.
  MUSTER_FN static std::uint32_t add(std::uint32_t* cell, std::uint32_t value) {
    return Word(*cell).fetch_add(value, memory_order);
  }
  [[nodiscard]] MUSTER_FN static std::uint32_t exchange(std::uint32_t* cell, std::uint32_t value) {
    return Word(*cell).exchange(value, memory_order);
  }
  // `from` where it now holds `to`. One that acquires does so where it fails, too.
  [[nodiscard]] MUSTER_FN static std::uint32_t swap(std::uint32_t* cell, std::uint32_t from,
                                                    std::uint32_t to) {
    constexpr bool acquires = acquire_part(order) == Order::acquire;
    Word(*cell).compare_exchange_strong(
        from, to, memory_order, acquires ? cuda::memory_order_acquire : cuda::memory_order_relaxed);
    return from;
  }
};

using Relaxed = Access<Order::relaxed, Scope::system>;

// Calls visit with the accesses of `order` (relaxed or else `strong`) and scope. Where these are
// constants, one instance is left in the kernel.
template <Order strong, class Visit>
MUSTER_FN auto with_access(Order order, Scope scope, Visit&& visit) {
  if (scope == Scope::block) {
    if (order == Order::relaxed) return visit(Access<Order::relaxed, Scope::block>{});
    return visit(Access<strong, Scope::block>{});
  }
  if (scope == Scope::device) {
    if (order == Order::relaxed) return visit(Access<Order::relaxed, Scope::device>{});
    return visit(Access<strong, Scope::device>{});
  }
  if (order == Order::relaxed) return visit(Access<Order::relaxed, Scope::system>{});
  return visit(Access<strong, Scope::system>{});
}

// The same with any order, for what reads and writes.
template <class Visit>
MUSTER_FN auto with_any_access(Order order, Scope scope, Visit&& visit) {
  if (order == Order::acquire) return with_access<Order::acquire>(order, scope, visit);
  if (order == Order::release) return with_access<Order::release>(order, scope, visit);
  return with_access<Order::acq_rel>(order, scope, visit);
}

// ---- where the thread runs ----------------------------------------------------------------------

[[nodiscard]] MUSTER_FN inline std::uint32_t thread_in_block() {
#if defined(__CUDA_ARCH__)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  trap();
#endif
}

// Warps are cut from a block in the order of thread_in_block().
[[nodiscard]] MUSTER_FN inline std::uint32_t thread_in_warp() {
#if defined(__CUDA_ARCH__)
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline std::uint32_t threads_in_block() {
#if defined(__CUDA_ARCH__)
  return blockDim.x * blockDim.y * blockDim.z;
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline std::uint32_t block_in_grid() {
#if defined(__CUDA_ARCH__)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline std::uint32_t blocks_in_grid() {
#if defined(__CUDA_ARCH__)
  return gridDim.x * gridDim.y * gridDim.z;
#else
  trap();
#endif
}

// A clock that all GPUs share; ticks in steps of up to a microsecond.
[[nodiscard]] MUSTER_FN inline std::uint64_t nanoseconds() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
#endif
}

}  // namespace muster::gpu::detail
