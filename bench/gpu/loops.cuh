// Kernels that make a barrier 1,000 times and time themselves, for muster's barriers and for the
// exchange that nothing can be faster than.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"

namespace muster::bench_gpu {

inline constexpr std::uint32_t calls = 1'000;
inline constexpr std::uint32_t warm_calls = 50;

// The clock of all GPUs, in nanoseconds.
[[nodiscard]] __device__ inline std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// step(), first some to warm up, then `calls` that are timed by the block's first thread.
template <class Step>
__device__ void time_calls(std::uint64_t* nanoseconds, Step step) {
  for (std::uint32_t i = 0; i < warm_calls; ++i) step();
  const std::uint64_t begin = now();
  for (std::uint32_t i = 0; i < calls; ++i) step();
  const std::uint64_t end = now();
  if (threadIdx.x == 0 && blockIdx.x == 0) *nanoseconds = end - begin;
}

using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;

// ---- the floor: one thread stores into the peer's word and polls its own

struct Wires {
  std::uint32_t* theirs;
  std::uint32_t* mine;
};

template <bool ordered>
__global__ void __launch_bounds__(1024)
    exchange_loop(Wires wires, std::uint32_t first, std::uint64_t* nanoseconds) {
  if (threadIdx.x != 0) return;
  constexpr auto release = ordered ? cuda::memory_order_release : cuda::memory_order_relaxed;
  constexpr auto acquire = ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
  std::uint32_t value = first;
  time_calls(nanoseconds, [&] {
    ++value;
    Word(*wires.theirs).store(value, release);
    while (static_cast<std::int32_t>(Word(*wires.mine).load(acquire) - value) < 0) {
    }
  });
}

// ---- the compare-and-swap barrier that Triton programs write: mark the peer's word, unmark the
// own

template <bool ordered>
__global__ void __launch_bounds__(1024) swap_loop(Wires wires, std::uint64_t* nanoseconds) {
  constexpr auto release = ordered ? cuda::memory_order_release : cuda::memory_order_relaxed;
  constexpr auto acquire = ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
  time_calls(nanoseconds, [&] {
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t expected = 0;
      while (!Word(*wires.theirs)
                  .compare_exchange_strong(expected, 1, release, cuda::memory_order_relaxed))
        expected = 0;
      expected = 1;
      while (!Word(*wires.mine)
                  .compare_exchange_strong(expected, 0, acquire, cuda::memory_order_relaxed))
        expected = 1;
    }
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
                WindowRef<std::uint64_t> nanoseconds) {
  gpu::Fabric<Coop> fabric(handle);
  const WaitStatus status = barrier.scoped(
      fabric,
      [&](auto& scope) {
        WaitStatus met = WaitStatus::ok;
        time_calls(fabric.local(nanoseconds).data(), [&] { met = worst(met, scope.sync()); });
      },
      use_of<ordered>());
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

template <class Coop, class Barrier, bool ordered>
__global__ void __launch_bounds__(most_threads<Coop>)
    single_loop(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                WindowRef<std::uint64_t> nanoseconds) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  time_calls(fabric.local(nanoseconds).data(),
             [&] { status = worst(status, barrier.sync(fabric, use_of<ordered>())); });
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

}  // namespace muster::bench_gpu
