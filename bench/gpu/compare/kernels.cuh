// The kernels that two commits are compared by: each calls what a user's kernel calls, and uses
// nothing that either of the commits may lack.
#pragma once

#include <cstdint>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/packet.hpp"

namespace muster::compare {

using Nanoseconds = WindowRef<std::uint64_t>;

inline constexpr std::uint32_t warm_calls = 50;
inline constexpr std::uint32_t packet_threads = 256;
using Exchange = PacketExchange<float, 1, packet_threads>;

[[nodiscard]] __device__ inline std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

template <class F, class Step>
__device__ void time_calls(F& fabric, Nanoseconds nanoseconds, std::uint32_t calls, Step step) {
  for (std::uint32_t i = 0; i < warm_calls; ++i) step();
  const std::uint64_t begin = now();
  for (std::uint32_t i = 0; i < calls; ++i) step();
  const std::uint64_t end = now();
  if (threadIdx.x == 0 && blockIdx.x == 0) fabric.local(nanoseconds)[0] = end - begin;
}

template <class F>
__device__ void report(F& fabric, Nanoseconds nanoseconds, WaitStatus status) {
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;  // the figure is none
}

// Up to 1,023 cycles of the processor, other ones in each call and on each rank. Where two ranks on
// one GPU go in step, a call takes so many whole polls, and a cycle more may cost another poll:
// what differs from call to call shows the mean.
class Dither {
 public:
  __device__ explicit Dither(std::uint32_t rank) : seed_(12345U + 777U * rank) {}
  __device__ void operator()() {
    seed_ = seed_ * 1664525U + 1013904223U;
    const std::uint32_t cycles = seed_ >> 22U;
    const auto begin = static_cast<std::uint32_t>(clock());
    while (static_cast<std::uint32_t>(clock()) - begin < cycles) {
    }
  }

 private:
  std::uint32_t seed_;
};

template <bool ordered>
[[nodiscard]] __device__ constexpr BarrierUse use_of() {
  if constexpr (ordered) return use::full;
  return use::rendezvous;
}

template <class Coop>
inline constexpr std::uint32_t most_threads =
    Coop::static_threads > 0 ? Coop::static_threads : 1024;

enum class Form { single, dithered, scoped };

template <class Coop, class Barrier, bool ordered, Form form>
__global__ void __launch_bounds__(most_threads<Coop>)
    barrier_loop(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                 Nanoseconds nanoseconds, std::uint32_t calls) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  if constexpr (form == Form::scoped) {
    status = barrier.scoped(
        fabric,
        [&](auto& scope) {
          WaitStatus met = WaitStatus::ok;
          time_calls(fabric, nanoseconds, calls, [&] { met = worst(met, scope.sync()); });
        },
        use_of<ordered>());
  } else {
    Dither dither(fabric.rank().value);
    time_calls(fabric, nanoseconds, calls, [&] {
      if constexpr (form == Form::dithered) dither();
      status = worst(status, barrier.sync(fabric, use_of<ordered>()));
    });
  }
  report(fabric, nanoseconds, status);
}

template <class Coop, class Barrier, bool ordered>
__global__ void __launch_bounds__(most_threads<Coop>)
    barrier_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier) {
  gpu::Fabric<Coop> fabric(handle);
  (void)barrier.sync(fabric, use_of<ordered>());
}

// ---- transfers

template <bool puts>
__global__ void __launch_bounds__(512)
    transfer_kernel(const __grid_constant__ gpu::Handle handle, WindowRef<uint4> to,
                    WindowRef<uint4> from, std::int64_t count) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  constexpr std::int64_t most = (128 << 10) / sizeof(uint4);
  const std::int64_t share = (count + fabric.lanes() - 1) / fabric.lanes();
  const std::int64_t chunk = share < most ? share : most;
  for (std::int64_t at = fabric.lane().value * chunk; at < count; at += fabric.lanes() * chunk) {
    const std::int64_t part = at + chunk < count ? chunk : count - at;
    if constexpr (puts)
      fabric.put_async(to, peer, at, from, at, part);
    else
      fabric.get_async(to, at, from, peer, at, part);
  }
  (void)fabric.flush();
}

template <bool puts>
__global__ void __launch_bounds__(512)
    transfer_loop(const __grid_constant__ gpu::Handle handle, WindowRef<uint4> to,
                  WindowRef<uint4> from, std::int64_t count, Nanoseconds nanoseconds,
                  std::uint32_t calls) {
  gpu::Fabric<gpu::Block<512>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  const std::int64_t chunk = count / fabric.lanes();
  const std::int64_t at = fabric.lane().value * chunk;
  time_calls(fabric, nanoseconds, calls, [&] {
    if constexpr (puts)
      fabric.put(to, peer, at, from, at, chunk);
    else
      (void)fabric.get(to, at, from, peer, at, chunk);
  });
}

// ---- packets

struct Floats {
  WindowRef<float> from;
  WindowRef<float> to;
};

template <class F>
__device__ WaitStatus exchange_once(F& fabric, const Exchange& exchange, const Floats& floats) {
  const Rank peer{1 - fabric.rank().value};
  const Box box{0, std::int64_t{fabric.lane().value} * packet_threads, 1, packet_threads};
  auto mine = fabric.template tile<float, 1, packet_threads>();
  auto theirs = fabric.template tile<float, 1, packet_threads>();
  fabric.load(mine, floats.from, box);
  const std::uint32_t flag = exchange.begin(fabric);
  exchange.put(fabric, flag, peer, mine);
  const WaitStatus status = exchange.wait(fabric, flag, peer, theirs);
  fabric.store(theirs, floats.to, box);
  return exchange.end(fabric, flag, status);
}

__global__ void packet_kernel(const __grid_constant__ gpu::Handle handle, Exchange exchange,
                              Floats floats) {
  gpu::Fabric<gpu::Block<packet_threads>> fabric(handle);
  (void)exchange_once(fabric, exchange, floats);
}

__global__ void packet_loop(const __grid_constant__ gpu::Handle handle, Exchange exchange,
                            Floats floats, Nanoseconds nanoseconds, std::uint32_t calls) {
  gpu::Fabric<gpu::Block<packet_threads>> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  time_calls(fabric, nanoseconds, calls,
             [&] { status = worst(status, exchange_once(fabric, exchange, floats)); });
  report(fabric, nanoseconds, status);
}

}  // namespace muster::compare
