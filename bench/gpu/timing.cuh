// How kernels time their calls, whosever they are.
#pragma once

#include <cstdint>

namespace muster::bench_gpu {

inline constexpr std::uint32_t warm_calls = 50;  // at the begin of each kernel

struct Timing {
  std::uint64_t* nanoseconds;
  std::uint32_t calls;
};

// The clock of all GPUs, in nanoseconds.
[[nodiscard]] __device__ inline std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// step(), first some to warm up, then those that are timed by the grid's first thread.
template <class Step>
__device__ void time_calls(Timing timing, Step step) {
  for (std::uint32_t i = 0; i < warm_calls; ++i) step();
  const std::uint64_t begin = now();
  for (std::uint32_t i = 0; i < timing.calls; ++i) step();
  const std::uint64_t end = now();
  if (threadIdx.x == 0 && blockIdx.x == 0) *timing.nanoseconds = end - begin;
}

}  // namespace muster::bench_gpu
