// A kernel that finds out whether a barrier holds: every thread of every rank writes a stamp to
// every rank, all meet, and every thread checks what another thread of each rank has written.
#pragma once

#include <cstdint>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/fabric/gpu/world.hpp"

namespace muster::gpu_test {

struct Exchange {
  WindowRef<std::uint32_t> inbox;    // lanes x (P * threads) stamps
  WindowRef<std::uint32_t> verdict;  // wrong stamps, then round, found and expected of one; failed
                                     // calls; rounds that were made
  std::uint32_t rounds = 0;
  std::uint32_t first_round = 0;  // so that a replay could not pass on what an earlier one left
  std::uint32_t skew_ns = 0;      // the most that a lane is late
};

inline constexpr std::int64_t verdict_words = 6;

[[nodiscard]] __device__ inline std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 0x9e3779b9U ^ (b + 0x7f4a7c15U) * 0x85ebca6bU;
  h ^= h >> 15;
  h *= 0xc2b2ae35U;
  return h ^ (h >> 13);
}

__device__ inline void spin(std::uint64_t nanoseconds) {
  const std::uint64_t begin = gpu::detail::nanoseconds();
  while (gpu::detail::nanoseconds() - begin < nanoseconds) {
  }
}

template <class F>
__device__ void write_stamps(F& fabric, const Exchange& exchange, std::uint32_t round) {
  const std::uint32_t width = fabric.threads();
  const std::int64_t at = exchange.inbox.at(
      fabric.lane().value, std::int64_t{fabric.rank().value} * width + fabric.thread());
  for (std::uint32_t step = 0; step < fabric.size(); ++step) {
    const Rank peer = right_of(fabric, step);
    fabric.address(exchange.inbox, peer)[at] =
        mix(round, fabric.rank().value * 4096 + fabric.thread());
  }
}

template <class F>
__device__ void check_stamps(F& fabric, const Exchange& exchange, std::uint32_t round) {
  const std::uint32_t width = fabric.threads();
  const std::uint32_t other = (fabric.thread() + 1 + round) % width;
  for (std::uint32_t writer = 0; writer < fabric.size(); ++writer) {
    const std::int64_t at =
        exchange.inbox.at(fabric.lane().value, std::int64_t{writer} * width + other);
    const std::uint32_t found = fabric.local(exchange.inbox)[at];
    const std::uint32_t expected = mix(round, writer * 4096 + other);
    if (found == expected) continue;
    auto verdict = fabric.local(exchange.verdict);
    if (atomicAdd(&verdict[0], 1U) == 0) {
      verdict[1] = round;
      verdict[2] = found;
      verdict[3] = expected;
    }
  }
}

// `meet` and `leave` are the barriers before and after the check.
template <class F, class Meet, class Leave>
__device__ void exchange_rounds(F& fabric, const Exchange& exchange, Meet meet, Leave leave) {
  WaitStatus status = WaitStatus::ok;
  std::uint32_t done = 0;
  for (; done < exchange.rounds && status == WaitStatus::ok; ++done) {
    const std::uint32_t round = exchange.first_round + done;
    const std::uint32_t draw = mix(fabric.rank().value * 64 + fabric.lane().value, round);
    if (exchange.skew_ns > 0 && draw % 4 == 0) spin(draw / 4 % exchange.skew_ns);
    write_stamps(fabric, exchange, round);
    status = meet();
    if (status != WaitStatus::ok) break;
    check_stamps(fabric, exchange, round);
    status = leave();
  }
  if (fabric.thread() == 0) {
    auto verdict = fabric.local(exchange.verdict);
    if (status != WaitStatus::ok) atomicAdd(&verdict[4], 1U);
    atomicAdd(&verdict[5], done);
  }
}

// Which threads of the block take part.
template <class Coop>
[[nodiscard]] __device__ bool takes_part() {
  return true;
}
template <>
[[nodiscard]] __device__ inline bool takes_part<gpu::Thread>() {
  return threadIdx.x == 0;
}
template <>
[[nodiscard]] __device__ inline bool takes_part<gpu::Warp>() {
  return threadIdx.x < 32;
}

template <class Coop, class Barrier, gpu::Ranks team = gpu::Ranks::few>
__global__ void __launch_bounds__(1024) exchange_kernel(const __grid_constant__ gpu::Handle handle,
                                                        Barrier barrier, Exchange exchange) {
  if (!takes_part<Coop>()) return;
  gpu::Fabric<Coop, team> fabric(handle);
  exchange_rounds(
      fabric, exchange, [&] { return barrier.sync(fabric); }, [&] { return barrier.sync(fabric); });
}

}  // namespace muster::gpu_test
