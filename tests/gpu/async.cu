// What is promised of put_async and get_async, and of the end of a kernel that has made them: a
// release notify to the target carries a put_async, whichever thread makes it and without flush
// (contract 1); the end of a launch flushes (contract 10).
#include <cuda_runtime_api.h>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::int64_t elements = 24'000;  // 1.5 rounds of loads in flight and more for each thread

[[nodiscard]] __device__ std::uint32_t stamp(std::uint32_t round, std::int64_t at) {
  return mix(round, static_cast<std::uint32_t>(at));
}

template <class F>
__device__ void fill(F& fabric, WindowRef<std::uint32_t> from, std::uint32_t round) {
  for_each_index(fabric, from.size(),
                 [&](std::int64_t i) { fabric.local(from)[i] = stamp(round, i); });
}

template <class F>
__device__ void check(F& fabric, WindowRef<std::uint32_t> window, std::uint32_t round,
                      WindowRef<std::uint32_t> wrong) {
  for_each_index(fabric, window.size(), [&](std::int64_t i) {
    if (fabric.local(window)[i] != stamp(round, i)) atomicAdd(&fabric.local(wrong)[0], 1U);
  });
}

struct Run {
  WindowRef<std::uint32_t> from;
  WindowRef<std::uint32_t> to;
  WindowRef<std::uint32_t> wrong;
  Signals signals;  // 0: the data is there; 1: it has been read
  std::uint32_t round = 0;
};

Run make_run(gpu::World& world) {
  return {need(world.window<std::uint32_t>({elements})),
          need(world.window<std::uint32_t>({elements})), need(world.window<std::uint32_t>({1})),
          need(world.signals(2))};
}

// The notify follows the put_async at once: the other threads may still be at their copies. Which
// thread makes it changes from round to round.
template <class Coop>
__global__ void carried_kernel(const __grid_constant__ gpu::Handle handle, Run run,
                               std::uint32_t rounds) {
  gpu::Fabric<Coop> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  WaitStatus status = WaitStatus::ok;
  for (std::uint32_t round = 1; round <= rounds && status == WaitStatus::ok; ++round) {
    if (fabric.rank().value == 0) {
      fill(fabric, run.from, round);
      fabric.put_async(run.to, peer, 0, run.from, 0, elements);
      if (fabric.thread() == round * 37 % fabric.threads())
        fabric.notify(run.signals[0], peer, round, NotifyOp::set);
      if (fabric.thread() == 0) status = fabric.wait(run.signals[1], Compare::ge, round);
      status = fabric.converge(status);
    } else {
      if (fabric.thread() == 0) status = fabric.wait(run.signals[0], Compare::ge, round);
      status = fabric.converge(status);
      if (status == WaitStatus::ok) check(fabric, run.to, round, run.wrong);
      fabric.converge();
      if (fabric.thread() == 0) fabric.notify(run.signals[1], peer, round, NotifyOp::set);
    }
  }
}

template <class Coop>
void a_notify_carries_a_put_async(std::uint32_t threads, std::uint32_t rounds) {
  for (const auto& devices : placements({2})) {
    gpu::World world =
        need(gpu::World::create({.devices = devices, .lanes = 1, .deadline = patience()}));
    const Run run = make_run(world);
    need(world.launch(carried_kernel<Coop>, {.lanes = 1, .threads = threads}, run, rounds));
    need(world.synchronize());
    const std::uint32_t wrong = fetch(world, run.wrong, Rank{1})[0];
    expect(wrong == 0, "%s, %u threads: %u elements of %u rounds were late",
           text_of(devices).c_str(), threads, wrong, rounds);
  }
}

// ---- the end of a kernel

// Every rank puts and gets, and forgets to flush.
__global__ void forgetful_kernel(const __grid_constant__ gpu::Handle handle, Run run) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  const std::int64_t share = elements / fabric.lanes();
  const std::int64_t at = share * fabric.lane().value;
  for (std::int64_t i = fabric.thread(); i < share; i += fabric.threads())
    fabric.local(run.from)[at + i] = stamp(run.round, at + i);
  fabric.put_async(run.to, peer, at, run.from, at, share);
}

// Another lane, in another kernel of the stream, speaks for all of them.
__global__ void telling_kernel(const __grid_constant__ gpu::Handle handle, Run run) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  if (fabric.thread() == 0) fabric.notify(run.signals[0], peer, run.round, NotifyOp::set);
  WaitStatus status = WaitStatus::ok;
  if (fabric.thread() == 0) status = fabric.wait(run.signals[0], Compare::ge, run.round);
  status = fabric.converge(status);
  if (status == WaitStatus::ok) check(fabric, run.to, run.round, run.wrong);
}

// What the kernel before has got is read here.
__global__ void getting_kernel(const __grid_constant__ gpu::Handle handle, Run run) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  fabric.get_async(run.to, 0, run.from, peer, 0, elements);
}
__global__ void reading_kernel(const __grid_constant__ gpu::Handle handle, Run run) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  check(fabric, run.to, run.round, run.wrong);
}

void the_end_of_a_kernel_flushes() {
  for (const auto& devices : placements({2})) {
    gpu::World world =
        need(gpu::World::create({.devices = devices, .lanes = 8, .deadline = patience()}));
    const EpochBarrier barrier(need(world.rows()));
    Run run = make_run(world);
    const gpu::Shape lanes{.lanes = 8, .threads = 256};
    const gpu::Shape one{.lanes = 1, .threads = 256};
    // All are loaded before any of them waits for another GPU's.
    need(world.prepare(forgetful_kernel, lanes));
    need(world.prepare(telling_kernel, one));
    need(world.prepare(getting_kernel, one));
    need(world.prepare(reading_kernel, one));
    for (run.round = 1; run.round <= 50; ++run.round) {
      need(world.launch(forgetful_kernel, lanes, run));
      need(world.launch(telling_kernel, one, run));
      need(world.synchronize());
      for (std::uint32_t rank = 0; rank < 2; ++rank)
        place(world, run.to, Rank{rank}, std::vector<std::uint32_t>(elements, 0));
      need(world.launch(getting_kernel, one, run));
      need(world.launch(reading_kernel, one, run));
      need(world.synchronize());
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::uint32_t wrong = fetch(world, run.wrong, Rank{rank})[0];
      expect(wrong == 0, "%s: rank %u found %u elements that were not there",
             text_of(devices).c_str(), rank, wrong);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("async", argc, argv,
             {{"a_notify_carries_a_put_async_of_a_warp",
               [] { a_notify_carries_a_put_async<gpu::Warp>(32, 100); }},
              {"a_notify_carries_a_put_async_of_a_block",
               [] { a_notify_carries_a_put_async<gpu::Block<512>>(512, 1000); }},
              {"the_end_of_a_kernel_flushes", the_end_of_a_kernel_flushes}});
}
