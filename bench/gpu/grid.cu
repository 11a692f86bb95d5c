// The lanes of one rank meet: GridBarrier against cooperative groups, on one GPU; and all lanes of
// two ranks, on two.
#include <cooperative_groups.h>

#include "bench/gpu/site.hpp"

namespace muster::bench_gpu {

namespace {

__global__ void grid_sync_loop(const __grid_constant__ gpu::Handle handle,
                               WindowRef<std::uint64_t> nanoseconds, std::uint32_t calls) {
  gpu::Fabric fabric(handle);
  auto grid = cooperative_groups::this_grid();
  time_calls(timing_of(fabric, nanoseconds, calls), [&] { grid.sync(); });
}

// By hand: one sum, to which each block adds 1 and which one warp of each polls.
__global__ void sum_loop(const __grid_constant__ gpu::Handle handle, WindowRef<std::uint32_t> words,
                         std::uint32_t word, WindowRef<std::uint64_t> nanoseconds,
                         std::uint32_t calls) {
  gpu::Fabric fabric(handle);
  using Sum = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;
  std::uint32_t& shared = fabric.local(words)[word];
  __shared__ std::uint32_t begin;
  // Nobody adds before all have read where this launch begins.
  if (threadIdx.x == 0) begin = Sum(shared).load(cuda::memory_order_relaxed);
  cooperative_groups::this_grid().sync();
  std::uint32_t sum = begin;
  time_calls(timing_of(fabric, nanoseconds, calls), [&] {
    sum += gridDim.x;
    __syncthreads();
    // Pairs with the acquire load of every block.
    if (threadIdx.x == 0) Sum(shared).fetch_add(1, cuda::memory_order_release);
    if (threadIdx.x < 32) {
      bool reached = false;
      do {
        const std::uint32_t seen = Sum(shared).load(cuda::memory_order_acquire);
        reached = static_cast<std::int32_t>(seen - sum) >= 0;
      } while (__all_sync(~0U, reached) == 0);
    }
    __syncthreads();
  });
}

Contender bare_sum(const Kept& site, const gpu::Shape& shape) {
  need(site->world.prepare(sum_loop, shape));
  return {"bare", "", "bare sum", [=, word = site->take_word()](std::uint32_t calls) {
            need(site->world.launch(sum_loop, shape, site->words, word, site->nanoseconds, calls));
            return site->timed_call(calls);
          }};
}

template <class Barrier, class Kernel>
Contender of_muster(const Kept& site, const std::string& name, const gpu::Shape& shape,
                    Kernel kernel) {
  const Barrier barrier(site->world);
  need(site->world.prepare(kernel, shape));
  return {"muster", "", name, [=](std::uint32_t calls) {
            need(site->world.launch(kernel, shape, barrier, site->nanoseconds, calls));
            return site->timed_call(calls);
          }};
}

Contender grid_sync(const Kept& site, const gpu::Shape& shape) {
  need(site->world.prepare(grid_sync_loop, shape));
  return {"peer", "cooperative", "cooperative groups, grid.sync", [=](std::uint32_t calls) {
            need(site->world.launch(grid_sync_loop, shape, site->nanoseconds, calls));
            return site->timed_call(calls);
          }};
}

template <std::uint32_t threads>
std::vector<Contender> on_one(std::uint32_t lanes) {
  const Kept site = make_site(1);
  const gpu::Shape shape{.lanes = lanes, .threads = threads, .cooperative = true};
  return {bare_sum(site, shape),
          of_muster<GridBarrier>(site, "GridBarrier, scoped", shape,
                                 scoped_loop<gpu::Block<threads>, GridBarrier, true>),
          of_muster<GridBarrier>(site, "GridBarrier, scoped, as Block<>", shape,
                                 scoped_loop<gpu::Block<>, GridBarrier, true>),
          of_muster<GridBarrier>(site, "GridBarrier", shape,
                                 single_loop<gpu::Block<threads>, GridBarrier, true>),
          grid_sync(site, shape)};
}

std::vector<Contender> on_two(std::uint32_t lanes) {
  const Kept site = make_site(2);
  const gpu::Shape shape{.lanes = lanes, .threads = 256, .cooperative = true};
  return {of_muster<SystemBarrier>(site, "SystemBarrier, scoped", shape,
                                   scoped_loop<gpu::Block<256>, SystemBarrier, true>),
          of_muster<EpochBarrier>(site, "EpochBarrier, scoped, each lane alone", shape,
                                  scoped_loop<gpu::Block<256>, EpochBarrier, true>)};
}

}  // namespace

std::vector<Contender> grids(const std::string& variant) {
  if (variant == "32 blocks of 32") return on_one<32>(32);
  if (variant == "32 blocks of 256") return on_one<256>(32);
  if (variant == "132 blocks of 32") return on_one<32>(132);
  if (variant == "132 blocks of 256") return on_one<256>(132);
  if (variant == "2 GPUs, 32 blocks of 256") return on_two(32);
  if (variant == "2 GPUs, 132 blocks of 256") return on_two(132);
  throw Unavailable("there is no table of grids '" + variant + "'");
}

}  // namespace muster::bench_gpu
