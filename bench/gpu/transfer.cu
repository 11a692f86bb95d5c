// put and get between two GPUs against a pure copy kernel of the same shape, and the copy engine.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench/gpu/session.hpp"
#include "muster/fabric/gpu.cuh"

namespace {

using namespace muster;
using namespace muster::bench_gpu;

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

enum class Way { put, get };

// Each lane moves its part of `count` elements. The first rank moves, or both where `both`.
template <Way way>
__global__ void transfer_kernel(const __grid_constant__ gpu::Handle handle, WindowRef<uint4> to,
                                WindowRef<uint4> from, std::int64_t count, bool both) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  if (!both && fabric.rank() != Rank{0}) return;
  const Rank peer{1 - fabric.rank().value};
  const std::int64_t each = (count + fabric.lanes() - 1) / fabric.lanes();
  const std::int64_t begin = fabric.lane().value * each;
  const std::int64_t part = begin + each <= count ? each : count - begin;
  if (part <= 0) return;
  if constexpr (way == Way::put)
    fabric.put(to, peer, begin, from, begin, part);
  else
    fabric.get(to, begin, from, peer, begin, part);
}

// The pure copy: the whole grid strides through the memory, eight loads in flight for each thread.
__global__ void copy_kernel(uint4* to, const uint4* from, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; at + 7 * step < count; at += 8 * step) {
    uint4 part[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) part[i] = from[at + i * step];
#pragma unroll
    for (int i = 0; i < 8; ++i) to[at + i * step] = part[i];
  }
  for (; at < count; at += step) to[at] = from[at];
}

struct Site {
  gpu::World world;
  WindowRef<uint4> to;
  WindowRef<uint4> from;
};
using Kept = std::shared_ptr<Site>;

constexpr int repeats = 10;

// Microseconds for one of `repeats` launches, one after the other, on each GPU that takes part:
// launch(rank) makes one. The slower GPU counts.
template <class Launch>
double time_launches(const Kept& site, std::uint32_t ranks, Launch launch) {
  StreamTimer* timers[2] = {};
  std::vector<std::unique_ptr<StreamTimer>> owned;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    must(cudaSetDevice(site->world.device(rank)), "turning to a GPU");
    owned.push_back(std::make_unique<StreamTimer>());
    timers[rank] = owned.back().get();
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    must(cudaSetDevice(site->world.device(rank)), "turning to a GPU");
    const gpu::Stream stream = site->world.stream(rank);
    launch(rank, stream);  // so that the launches that count come before the GPU is ready for them
    timers[rank]->start(stream);
    for (int i = 0; i < repeats; ++i) launch(rank, stream);
    timers[rank]->stop(stream);
  }
  double slowest = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    must(cudaSetDevice(site->world.device(rank)), "turning to a GPU");
    slowest = std::max(slowest, timers[rank]->microseconds() / repeats);
  }
  need(site->world.sync());
  return slowest;
}

std::string size_text(std::int64_t bytes) {
  return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + " MiB"
                          : std::to_string(bytes >> 10) + " KiB";
}

struct Run {
  Kept site;
  std::string group;
  std::int64_t bytes;
  gpu::Shape shape;
  std::uint32_t ranks;  // that move: 1 or 2
};

Contender pure_copy(const Run& run, Way way) {
  const std::string name = way == Way::put ? "pure copy to the peer" : "pure copy from the peer";
  return {name, run.group, "",
          [=] {
            return time_launches(run.site, run.ranks, [&](std::uint32_t rank, gpu::Stream stream) {
              const gpu::World& world = run.site->world;
              const Rank own{rank};
              const Rank peer{1 - rank};
              uint4* const to = world.address(run.site->to, way == Way::put ? peer : own);
              const uint4* const from = world.address(run.site->from, way == Way::put ? own : peer);
              copy_kernel<<<run.shape.lanes, run.shape.threads, 0, stream>>>(
                  to, from, run.bytes / static_cast<std::int64_t>(sizeof(uint4)));
              must(cudaGetLastError(), "launching");
            });
          },
          static_cast<double>(run.bytes)};
}

template <Way way>
Contender muster_transfer(const Run& run) {
  const std::string name = way == Way::put ? "muster put" : "muster get";
  const std::string base = way == Way::put ? "pure copy to the peer" : "pure copy from the peer";
  need(run.site->world.prepare(transfer_kernel<way>, run.shape));
  return {name, run.group, base,
          [=] {
            return time_launches(run.site, run.ranks, [&](std::uint32_t rank, gpu::Stream stream) {
              need(run.site->world.launch_on(
                  rank, stream, transfer_kernel<way>, run.shape, run.site->to, run.site->from,
                  run.bytes / static_cast<std::int64_t>(sizeof(uint4)), run.ranks == 2));
            });
          },
          static_cast<double>(run.bytes)};
}

Contender copy_engine(const Run& run) {
  return {"cudaMemcpyPeer", run.group, "pure copy to the peer",
          [=] {
            return time_launches(run.site, run.ranks, [&](std::uint32_t rank, gpu::Stream stream) {
              const gpu::World& world = run.site->world;
              const int own = world.device(rank);
              const int peer = world.device(1 - rank);
              must(cudaMemcpyPeerAsync(world.address(run.site->to, Rank{1 - rank}), peer,
                                       world.address(run.site->from, Rank{rank}), own,
                                       static_cast<std::size_t>(run.bytes), stream),
                   "copying");
            });
          },
          static_cast<double>(run.bytes)};
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (gpu_count() < 2) {
    std::printf("SKIPPED: this benchmark needs 2 GPUs, this machine shows %d\n", gpu_count());
    return 0;
  }
  try {
    constexpr std::int64_t most = 128LL << 20;
    gpu::World world = need(gpu::World::create({.devices = {0, 1},
                                                .lanes = 132,
                                                .bytes = 2ULL * most + 4096,
                                                .deadline = std::chrono::seconds(5),
                                                .verify = false}));
    const auto to = need(world.window<uint4>({most / 16}));
    const auto from = need(world.window<uint4>({most / 16}));
    const Kept site = std::make_shared<Site>(Site{world, to, from});
    std::vector<Contender> contenders;
    for (const std::uint32_t ranks : {1U, 2U})
      for (const std::int64_t bytes : {4LL << 10, 64LL << 10, 1LL << 20, 16LL << 20, 128LL << 20}) {
        const std::uint32_t lanes = bytes < (1LL << 20) ? 4 : 132;
        const Run run{site,
                      size_text(bytes) + (ranks == 1 ? ", one way" : ", both ways"),
                      bytes,
                      {.lanes = lanes, .threads = 512, .cooperative = false},
                      ranks};
        contenders.push_back(pure_copy(run, Way::put));
        contenders.push_back(muster_transfer<Way::put>(run));
        contenders.push_back(copy_engine(run));
        contenders.push_back(pure_copy(run, Way::get));
        contenders.push_back(muster_transfer<Way::get>(run));
      }
    return report("transfers between two GPUs", contenders, options);
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n", failure.what());
    return 1;
  }
}
