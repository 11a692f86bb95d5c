// Kernels that make many calls and time themselves: muster's barriers, and the exchange that
// nothing can be faster than.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "bench/gpu/timing.cuh"
#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"

namespace muster::bench_gpu {

template <class F>
[[nodiscard]] __device__ Timing timing_of(F& fabric, WindowRef<std::uint64_t> nanoseconds,
                                          std::uint32_t calls) {
  return {fabric.local(nanoseconds).data(), calls};
}

using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;

template <bool ordered>
inline constexpr auto release_of =
    ordered ? cuda::memory_order_release : cuda::memory_order_relaxed;
template <bool ordered>
inline constexpr auto acquire_of =
    ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed;

// A word of the peer's and one of the own, in the memories of two GPUs.
struct Wires {
  std::uint32_t* theirs;
  std::uint32_t* mine;
};

// The own word has reached `value`.
template <bool ordered>
__device__ void wait_for(Wires wires, std::uint32_t value) {
  while (static_cast<std::int32_t>(Word(*wires.mine).load(acquire_of<ordered>) - value) < 0) {
  }
}

// ---- the floor: one thread stores into the peer's word and polls its own

template <bool ordered>
__global__ void __launch_bounds__(1024)
    exchange_loop(Wires wires, std::uint32_t first, Timing timing) {
  if (threadIdx.x != 0) return;
  std::uint32_t value = first;
  time_calls(timing, [&] {
    ++value;
    Word(*wires.theirs).store(value, release_of<ordered>);
    wait_for<ordered>(wires, value);
  });
}

// ---- the compare-and-swap barrier that Triton programs write: mark the peer's word, unmark the
// own. By one thread.

template <bool ordered>
__device__ void swap_words(Wires wires) {
  std::uint32_t expected = 0;
  while (
      !Word(*wires.theirs)
           .compare_exchange_strong(expected, 1, release_of<ordered>, cuda::memory_order_relaxed))
    expected = 0;
  expected = 1;
  while (
      !Word(*wires.mine)
           .compare_exchange_strong(expected, 0, acquire_of<ordered>, cuda::memory_order_relaxed))
    expected = 1;
}

template <bool ordered>
__global__ void __launch_bounds__(1024) swap_loop(Wires wires, Timing timing) {
  time_calls(timing, [&] {
    __syncthreads();
    if (threadIdx.x == 0) swap_words<ordered>(wires);
    __syncthreads();
  });
}

// ---- muster

template <bool ordered>
[[nodiscard]] __device__ constexpr BarrierUse use_of() {
  if constexpr (ordered) return use::full;
  return use::rendezvous;
}

// Registers for the threads that a lane has, not for 1024.
template <class Coop>
inline constexpr std::uint32_t most_threads =
    Coop::static_threads > 0 ? Coop::static_threads : 1024;

template <class Coop, class Barrier, bool ordered>
__global__ void __launch_bounds__(most_threads<Coop>)
    scoped_loop(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                WindowRef<std::uint64_t> nanoseconds, std::uint32_t calls) {
  gpu::Fabric<Coop> fabric(handle);
  const WaitStatus status = barrier.scoped(
      fabric,
      [&](auto& scope) {
        WaitStatus met = WaitStatus::ok;
        time_calls(timing_of(fabric, nanoseconds, calls), [&] { met = worst(met, scope.sync()); });
      },
      use_of<ordered>());
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

template <class Coop, class Barrier, bool ordered>
__global__ void __launch_bounds__(most_threads<Coop>)
    single_loop(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                WindowRef<std::uint64_t> nanoseconds, std::uint32_t calls) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  time_calls(timing_of(fabric, nanoseconds, calls),
             [&] { status = worst(status, barrier.sync(fabric, use_of<ordered>())); });
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

}  // namespace muster::bench_gpu
