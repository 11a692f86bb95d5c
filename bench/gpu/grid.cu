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

std::vector<Contender> on_one(std::uint32_t lanes, std::uint32_t threads) {
  const Kept site = make_site(1);
  const gpu::Shape shape{.lanes = lanes, .threads = threads, .cooperative = true};
  return {of_muster<GridBarrier>(site, "GridBarrier, scoped", shape,
                                 scoped_loop<gpu::Block<>, GridBarrier, true>),
          of_muster<GridBarrier>(site, "GridBarrier", shape,
                                 single_loop<gpu::Block<>, GridBarrier, true>),
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
  if (variant == "32 blocks of 32") return on_one(32, 32);
  if (variant == "32 blocks of 256") return on_one(32, 256);
  if (variant == "132 blocks of 32") return on_one(132, 32);
  if (variant == "132 blocks of 256") return on_one(132, 256);
  if (variant == "2 GPUs, 32 blocks of 256") return on_two(32);
  if (variant == "2 GPUs, 132 blocks of 256") return on_two(132);
  throw Unavailable("there is no table of grids '" + variant + "'");
}

}  // namespace muster::bench_gpu
