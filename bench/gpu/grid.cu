// The lanes of one rank meet: GridBarrier against cooperative groups, on one GPU; and all lanes of
// two ranks, on two.
#include <cooperative_groups.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench/gpu/pair.hpp"

namespace {

using namespace muster;
using namespace muster::bench_gpu;

__global__ void grid_sync_loop(const __grid_constant__ gpu::Handle handle,
                               WindowRef<std::uint64_t> nanoseconds) {
  gpu::Fabric fabric(handle);
  auto grid = cooperative_groups::this_grid();
  time_calls(fabric.local(nanoseconds).data(), [&] { grid.sync(); });
}

double timed_call(gpu::World& world, WindowRef<std::uint64_t> nanoseconds) {
  need(world.sync());
  const std::uint64_t took = read_word(world.address(nanoseconds, Rank{0}));
  if (took == 0) throw Failure(Error{ErrorCode::expired, "a call of the barrier failed"});
  return static_cast<double>(took) / 1e3 / calls;
}

struct Site {
  std::shared_ptr<gpu::World> world;
  WindowRef<std::uint64_t> nanoseconds;
};

Site make_site(const std::vector<int>& devices) {
  auto world =
      std::make_shared<gpu::World>(need(gpu::World::create({.devices = devices,
                                                            .lanes = 132,
                                                            .bytes = 1U << 20U,
                                                            .deadline = std::chrono::seconds(5),
                                                            .verify = false})));
  const auto nanoseconds = need(world->window<std::uint64_t>({1}));
  return {world, nanoseconds};
}

template <class Barrier, class Kernel>
Contender muster_barrier(const Site& site, const std::string& group, const std::string& name,
                         const std::string& baseline, const gpu::Shape& shape, Kernel kernel) {
  const Barrier barrier(*site.world);
  need(site.world->prepare(kernel, shape));
  return {"muster " + name, group, baseline, [=] {
            need(site.world->launch(kernel, shape, barrier, site.nanoseconds));
            return timed_call(*site.world, site.nanoseconds);
          }};
}

Contender grid_sync(const Site& site, const std::string& group, const gpu::Shape& shape) {
  need(site.world->prepare(grid_sync_loop, shape));
  return {"cooperative grid.sync", group, "", [=] {
            need(site.world->launch(grid_sync_loop, shape, site.nanoseconds));
            return timed_call(*site.world, site.nanoseconds);
          }};
}

void add_lanes(std::vector<Contender>& all, const Site& one, std::uint32_t lanes,
               std::uint32_t threads) {
  const gpu::Shape shape{.lanes = lanes, .threads = threads, .cooperative = true};
  const std::string group = std::to_string(lanes) + " blocks of " + std::to_string(threads);
  const std::string base = "cooperative grid.sync";
  all.push_back(grid_sync(one, group, shape));
  all.push_back(muster_barrier<GridBarrier>(one, group, "grid, scoped", base, shape,
                                            scoped_loop<gpu::Block<>, GridBarrier, true>));
  all.push_back(muster_barrier<GridBarrier>(one, group, "grid", base, shape,
                                            single_loop<gpu::Block<>, GridBarrier, true>));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (gpu_count() < 1) {
    std::printf("SKIPPED: this benchmark needs a GPU\n");
    return 0;
  }
  try {
    const Site one = make_site({0});
    std::vector<Contender> contenders;
    for (const std::uint32_t lanes : {32U, 132U})
      for (const std::uint32_t threads : {32U, 256U}) add_lanes(contenders, one, lanes, threads);
    if (gpu_count() > 1) {
      const Site two = make_site({0, 1});
      for (const std::uint32_t lanes : {32U, 132U}) {
        const gpu::Shape shape{.lanes = lanes, .threads = 256, .cooperative = true};
        const std::string group = "2 GPUs, " + std::to_string(lanes) + " blocks of 256";
        contenders.push_back(
            muster_barrier<SystemBarrier>(two, group, "system, scoped", "", shape,
                                          scoped_loop<gpu::Block<256>, SystemBarrier, true>));
        contenders.push_back(
            muster_barrier<EpochBarrier>(two, group, "epoch, scoped, each lane alone", "", shape,
                                         scoped_loop<gpu::Block<256>, EpochBarrier, true>));
      }
    }
    return report("all blocks meet, in a kernel", contenders, options);
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n", failure.what());
    return 1;
  }
}
