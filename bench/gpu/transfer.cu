// put and get between two GPUs, against a pure copy kernel of the same shape and the copy engine.
// Each transfer is a kernel, or a copy, of its own in a graph.
#include "bench/gpu/graphs.hpp"

namespace muster::bench_gpu {

namespace {

enum class Way { put, get };

// The lanes move chunks in turn: all of them are at work in the same few MiB, which memory likes
// better than shares that lie far apart (94 % of the pure copy's speed at 128 MiB).
template <Way way>
__global__ void transfer_kernel(const __grid_constant__ gpu::Handle handle, WindowRef<uint4> to,
                                WindowRef<uint4> from, std::int64_t count) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  constexpr std::int64_t most = (128 << 10) / sizeof(uint4);
  const std::int64_t share = (count + fabric.lanes() - 1) / fabric.lanes();
  const std::int64_t chunk = share < most ? share : most;
  for (std::int64_t at = fabric.lane().value * chunk; at < count; at += fabric.lanes() * chunk) {
    const std::int64_t part = at + chunk < count ? chunk : count - at;
    if constexpr (way == Way::put)
      fabric.put_async(to, peer, at, from, at, part);
    else
      fabric.get_async(to, at, from, peer, at, part);
  }
  (void)fabric.flush();
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

struct Run {
  Kept site;
  WindowRef<uint4> to;
  WindowRef<uint4> from;
  std::int64_t bytes;
  gpu::Shape shape;
  GraphShape graph;

  [[nodiscard]] std::int64_t count() const {
    return bytes / static_cast<std::int64_t>(sizeof(uint4));
  }
  // Whose window is written, and whose is read, when `own` moves.
  [[nodiscard]] uint4* target(Way way, Rank own) const {
    return site->world.address(to, way == Way::put ? Rank{1 - own.value} : own);
  }
  [[nodiscard]] uint4* source(Way way, Rank own) const {
    return site->world.address(from, way == Way::put ? own : Rank{1 - own.value});
  }
};

Contender pure_copy(const Run& run, Way way) {
  return in_graph(run.site, "bare", "", "pure copy kernel", run.graph,
                  [=](Rank rank, gpu::Stream stream) {
                    copy_kernel<<<run.shape.lanes, run.shape.threads, 0, stream>>>(
                        run.target(way, rank), run.source(way, rank), run.count());
                    must(cudaGetLastError(), "launching");
                  });
}

template <Way way>
Contender of_muster(const Run& run) {
  const auto kernel = transfer_kernel<way>;
  need(run.site->world.prepare(kernel, run.shape));
  return in_graph(run.site, "muster", "", way == Way::put ? "put" : "get", run.graph,
                  [=](Rank rank, gpu::Stream stream) {
                    need(run.site->world.launch_on(rank.value, stream, kernel, run.shape, run.to,
                                                   run.from, run.count()));
                  });
}

// cudaMemcpyPeerAsync cannot be captured; between GPUs that reach each other this does the same.
Contender copy_engine(const Run& run, Way way) {
  return in_graph(
      run.site, "peer", "memcpy", "cudaMemcpyAsync", run.graph, [=](Rank rank, gpu::Stream stream) {
        must(cudaMemcpyAsync(run.target(way, rank), run.source(way, rank),
                             static_cast<std::size_t>(run.bytes), cudaMemcpyDefault, stream),
             "copying");
      });
}

Run make_run(std::uint64_t bytes, const std::string& variant) {
  const bool both = variant == "both ways";
  if (!both && variant != "one way")
    throw Unavailable("there is no table of transfers '" + variant + "'");
  const Kept site = make_site(2, 2 * bytes + 4096);
  const auto elements = static_cast<std::int64_t>(bytes / sizeof(uint4));
  return {site,
          need(site->world.window<uint4>({elements})),
          need(site->world.window<uint4>({elements})),
          static_cast<std::int64_t>(bytes),
          {.lanes = bytes < (1U << 20U) ? 4U : 132U, .threads = 512, .cooperative = false},
          {.ranks = both ? 2U : 1U, .nodes = bytes < (1U << 20U) ? 100U : 10U, .coupled = false}};
}

}  // namespace

std::vector<Contender> puts(std::uint64_t bytes, const std::string& variant) {
  const Run run = make_run(bytes, variant);
  return {pure_copy(run, Way::put), of_muster<Way::put>(run), copy_engine(run, Way::put)};
}

std::vector<Contender> gets(std::uint64_t bytes, const std::string& variant) {
  const Run run = make_run(bytes, variant);
  return {pure_copy(run, Way::get), of_muster<Way::get>(run), copy_engine(run, Way::get)};
}

}  // namespace muster::bench_gpu
