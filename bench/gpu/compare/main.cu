// What this commit's GPU fabric takes, with two ranks on one GPU: a line "case|nanoseconds" for
// each, the median of some launches. compare.py builds it against two commits and runs them in
// turn.
//
//   main [RUNS]     compiled with -DPART=0, 1, 2 or 3: a part each, so that all compile at once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels.cuh"
#include "muster/fabric/gpu/world.hpp"

namespace {

using namespace muster;
using namespace muster::compare;

int runs = 3;

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  std::printf("FAILED: %s: %s\n", doing, cudaGetErrorString(result));
  std::exit(1);
}
template <class T>
T need(Result<T> result) {
  return std::move(result).value();
}
void need(const Result<void>& result) {
  result.value();
}

struct Site {
  gpu::World world;
  Nanoseconds nanoseconds;
};

Site make_site(std::uint32_t ranks) {
  gpu::World world = need(gpu::World::create({.devices = std::vector<int>(ranks, 0),
                                              .lanes = 132,
                                              .cells = 1U << 20U,
                                              .deadline = std::chrono::seconds(5),
                                              .verify = false}));
  const auto nanoseconds = need(world.window<std::uint64_t>({1}));
  return {world, nanoseconds};
}

// Of commits before 2026-12 it is called sync().
template <class World>
void wait_for_streams(World& world) {
  if constexpr (requires { world.synchronize(); })
    need(world.synchronize());
  else
    need(world.sync());
}

void say(const std::string& name, std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  std::printf("%s|%.2f\n", name.c_str(), times[times.size() / 2]);
}

// launch(calls) starts kernels that time themselves: some 2.5 ms of calls.
template <class Launch>
void loop(Site& site, const std::string& name, Launch launch) {
  std::vector<double> times;
  std::uint32_t calls = 200;
  for (int run = -1; run < runs; ++run) {
    need(launch(calls));
    wait_for_streams(site.world);
    std::uint64_t took = 0;
    must(cudaMemcpy(&took, site.world.address(site.nanoseconds, Rank{0}), sizeof(took),
                    cudaMemcpyDeviceToHost),
         "copying to the host");
    const double one = static_cast<double>(took) / calls;
    if (took == 0) must(cudaErrorUnknown, name.c_str());
    if (run >= 0) times.push_back(one);
    if (run < 0) calls = std::max(200U, static_cast<std::uint32_t>(2.5e6 / one));
  }
  say(name, times);
}

// launch(stream) starts one kernel, of 200 in a graph that is replayed.
template <class Launch>
void graph(Site& site, const std::string& name, Launch launch) {
  constexpr int nodes = 200;
  constexpr int replays = 4;
  const cudaStream_t stream = site.world.stream(0);
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
  for (int node = 0; node < nodes; ++node) need(launch(stream));
  must(cudaStreamEndCapture(stream, &captured), "capturing");
  must(cudaGraphInstantiate(&ready, captured, 0), "instantiating a graph");
  must(cudaEventCreate(&begin), "making an event");
  must(cudaEventCreate(&end), "making an event");
  std::vector<double> times;
  for (int run = -1; run < runs; ++run) {
    must(cudaEventRecord(begin, stream), "starting a timer");
    for (int replay = 0; replay < replays; ++replay)
      must(cudaGraphLaunch(ready, stream), "launching a graph");
    must(cudaEventRecord(end, stream), "stopping a timer");
    wait_for_streams(site.world);
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin, end), "reading a timer");
    if (run >= 0) times.push_back(1e6 * milliseconds / (nodes * replays));
  }
  say(name, times);
  must(cudaGraphExecDestroy(ready), "ending a graph");
  must(cudaGraphDestroy(captured), "ending a graph");
}

// ---- barriers

template <class Coop, class Barrier, bool ordered, Form form>
void in_loop(Site& site, const std::string& name, std::uint32_t threads, std::uint32_t lanes = 1) {
  constexpr const char* forms[] = {"loop", "dithered loop", "scope"};
  const Barrier barrier(site.world);
  const gpu::Shape shape{.lanes = lanes, .threads = threads, .cooperative = true};
  const std::string what = name + (ordered ? ", acq_rel, " : ", relaxed, ") +
                           (lanes > 1 ? std::to_string(lanes) + " x " : "") +
                           std::to_string(threads) + " threads, " + forms[static_cast<int>(form)];
  loop(site, what, [&](std::uint32_t calls) {
    return site.world.launch(barrier_loop<Coop, Barrier, ordered, form>, shape, barrier,
                             site.nanoseconds, calls);
  });
}

template <class Coop, class Barrier, bool ordered>
void in_graph(Site& site, const std::string& name, std::uint32_t threads) {
  const Barrier barrier(site.world);
  const auto kernel = barrier_kernel<Coop, Barrier, ordered>;
  const gpu::Shape shape{.lanes = 1, .threads = threads, .cooperative = false};
  need(site.world.prepare(kernel, shape));
  graph(
      site,
      name + (ordered ? ", acq_rel, " : ", relaxed, ") + std::to_string(threads) +
          " threads, graph",
      [&](cudaStream_t stream) { return site.world.launch_on(0, stream, kernel, shape, barrier); });
}

// Asked by name: where the two compilers of a kernel answer a question differently, one leaves it
// out.
template <class Barrier>
inline constexpr bool has_scope =
    !std::is_same_v<Barrier, CreditBarrier> && !std::is_same_v<Barrier, FlipBarrier>;

template <class Coop, class Barrier, bool ordered>
void every_form(Site& site, const std::string& name, std::uint32_t threads) {
  in_loop<Coop, Barrier, ordered, Form::single>(site, name, threads);
  in_loop<Coop, Barrier, ordered, Form::dithered>(site, name, threads);
  if constexpr (has_scope<Barrier>)
    in_loop<Coop, Barrier, ordered, Form::scoped>(site, name, threads);
  in_graph<Coop, Barrier, ordered>(site, name, threads);
}

template <class Coop, bool ordered>
void barriers(Site& site, std::uint32_t threads) {
  every_form<Coop, EpochBarrier, ordered>(site, "epoch", threads);
  every_form<Coop, CreditBarrier, ordered>(site, "credit", threads);
  every_form<Coop, FlipBarrier, ordered>(site, "flip", threads);
  every_form<Coop, CounterBarrier, ordered>(site, "counter", threads);
  every_form<Coop, DisseminationBarrier, ordered>(site, "dissemination", threads);
}

#if PART == 3
void lanes_of_ranks() {
  using Coop = gpu::Block<256>;
  Site two = make_site(2);
  in_loop<Coop, SystemBarrier, true, Form::single>(two, "system", 256, 32);
  in_loop<Coop, SystemBarrier, true, Form::scoped>(two, "system", 256, 32);
  Site one = make_site(1);
  for (const std::uint32_t lanes : {32U, 132U}) {
    in_loop<Coop, GridBarrier, true, Form::single>(one, "grid", 256, lanes);
    in_loop<Coop, GridBarrier, true, Form::scoped>(one, "grid", 256, lanes);
  }
}

// ---- transfers and packets

template <bool puts>
void transfers(Site& site, std::int64_t bytes) {
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(uint4));
  const auto to = need(site.world.window<uint4>({count}));
  const auto from = need(site.world.window<uint4>({count}));
  const gpu::Shape shape{
      .lanes = bytes < (1 << 20) ? 4U : 66U, .threads = 512, .cooperative = false};
  const std::string name = (puts ? "put " : "get ") + std::to_string(bytes >> 10) + " KiB, ";
  need(site.world.prepare(transfer_kernel<puts>, shape));
  graph(site, name + "graph", [&](cudaStream_t stream) {
    return site.world.launch_on(0, stream, transfer_kernel<puts>, shape, to, from, count);
  });
  loop(site, name + "loop", [&](std::uint32_t calls) {
    return site.world.launch(transfer_loop<puts>, shape, to, from, count, site.nanoseconds, calls);
  });
}

void packets(Site& site, std::uint32_t lanes) {
  const std::int64_t elements = std::int64_t{lanes} * packet_threads;
  const Floats floats{need(site.world.window<float>({elements})),
                      need(site.world.window<float>({elements}))};
  const Exchange exchange(site.world);
  const gpu::Shape shape{.lanes = lanes, .threads = packet_threads, .cooperative = false};
  const std::string name = "packets of " + std::to_string(lanes) + " KiB, ";
  need(site.world.prepare(packet_kernel, shape));
  graph(site, name + "graph", [&](cudaStream_t stream) {
    return site.world.launch_on(0, stream, packet_kernel, shape, exchange, floats);
  });
  loop(site, name + "loop", [&](std::uint32_t calls) {
    return site.world.launch(packet_loop, shape, exchange, floats, site.nanoseconds, calls);
  });
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1) runs = std::atoi(argv[1]);
  Site site = make_site(2);
#if PART == 0
  barriers<gpu::Warp, false>(site, 32);
  barriers<gpu::Warp, true>(site, 32);
#elif PART == 1
  barriers<gpu::Block<256>, false>(site, 256);
  barriers<gpu::Block<256>, true>(site, 256);
#elif PART == 2
  barriers<gpu::Block<1024>, false>(site, 1024);
  barriers<gpu::Block<1024>, true>(site, 1024);
#else
  lanes_of_ranks();
  for (const std::int64_t bytes : {4 << 10, 16 << 10, 64 << 10, 256 << 10, 4 << 20}) {
    transfers<true>(site, bytes);
    transfers<false>(site, bytes);
  }
  for (const std::uint32_t lanes : {1U, 4U, 16U, 66U}) packets(site, lanes);
#endif
  return 0;
} catch (const std::exception& failure) {
  std::printf("FAILED: %s\n", failure.what());
  return 1;
}
