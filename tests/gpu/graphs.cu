// Barriers in CUDA graphs, replayed 10,000 times without a new instantiation; two streams at once,
// each with barriers of its own; ranks held up by a kernel that spins.
#include <cuda_runtime_api.h>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t replays = 10'000;

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

gpu::World make_world(const std::vector<int>& devices) {
  return need(gpu::World::create({.devices = devices, .lanes = 4, .deadline = patience()}));
}

// The round comes from a counter in the own window: nothing in the launch's arguments changes.
template <class Barrier>
__global__ void replayed_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                                Exchange exchange, WindowRef<std::uint32_t> round) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  std::uint32_t& next = fabric.local(round)[fabric.lane().value];
  exchange.first_round = next;
  exchange_rounds(
      fabric, exchange, [&] { return barrier.sync(fabric); }, [&] { return barrier.sync(fabric); });
  if (fabric.thread() == 0) next += exchange.rounds;
}

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

template <class Launch>
Graph capture(int device, cudaStream_t stream, Launch launch) {
  must(cudaSetDevice(device), "turning to a GPU");
  Graph made;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  launch();
  must(cudaStreamEndCapture(stream, &made.graph), "ending a capture");
  must(cudaGraphInstantiate(&made.executable, made.graph, 0), "instantiating a graph");
  return made;
}

void destroy(const Graph& graph) {
  must(cudaGraphExecDestroy(graph.executable), "destroying a graph");
  must(cudaGraphDestroy(graph.graph), "destroying a graph");
}

template <class Barrier>
void replay_of() {
  for (const auto& devices : placements({2, 3})) {
    gpu::World world = make_world(devices);
    const Barrier barrier(world);
    const Exchange exchange = make_exchange(world, 2, 64, 2);
    const auto round = need(world.window<std::uint32_t>({4}));
    const gpu::Shape shape{.lanes = 2, .threads = 64};
    need(world.prepare(replayed_kernel<Barrier>, shape));
    std::vector<Graph> graphs;
    for (std::uint32_t group = 0; group < world.groups(); ++group)
      graphs.push_back(capture(world.device(group), world.stream(group), [&] {
        // Two launches in one graph.
        for (int i = 0; i < 2; ++i)
          need(world.launch_on(group, world.stream(group), replayed_kernel<Barrier>, shape, barrier,
                               exchange, round));
      }));
    for (std::uint32_t i = 0; i < replays; ++i)
      for (std::uint32_t group = 0; group < world.groups(); ++group) {
        must(cudaSetDevice(world.device(group)), "turning to a GPU");
        must(cudaGraphLaunch(graphs[group].executable, world.stream(group)), "launching a graph");
      }
    need(world.synchronize());
    check_verdict(world, exchange, std::uint64_t{replays} * 2 * 2 * 2, text_of(devices));
    for (const Graph& graph : graphs) destroy(graph);
  }
}

__global__ void hold_up_kernel(const __grid_constant__ gpu::Handle handle, std::uint32_t step) {
  const std::uint32_t draw = mix(handle.first_rank, step);
  if (draw % 8 == 0) spin(draw / 8 % 200'000);
}

// Each stream has its own barrier, its own windows and its own order of delays. Not cooperative:
// the kernels of both streams must be able to run at once (see probe.cu), and together they fit.
void two_streams() {
  for (const auto& devices : placements({2, 4})) {
    gpu::World world = make_world(devices);
    const EpochBarrier barriers[2] = {EpochBarrier(world), EpochBarrier(world)};
    const Exchange exchanges[2] = {make_exchange(world, 2, 64, 3), make_exchange(world, 2, 64, 3)};
    const WindowRef<std::uint32_t> rounds[2] = {need(world.window<std::uint32_t>({4})),
                                                need(world.window<std::uint32_t>({4}))};
    const gpu::Shape shape{.lanes = 2, .threads = 64, .cooperative = false};
    const gpu::Shape one{.lanes = 1, .threads = 1, .cooperative = false};
    need(world.prepare(replayed_kernel<EpochBarrier>, shape));
    need(world.prepare(hold_up_kernel, one));
    std::vector<cudaStream_t> second(world.groups());
    for (std::uint32_t group = 0; group < world.groups(); ++group) {
      must(cudaSetDevice(world.device(group)), "turning to a GPU");
      must(cudaStreamCreateWithFlags(&second[group], cudaStreamNonBlocking), "making a stream");
    }
    constexpr std::uint32_t steps = 1'000;
    for (std::uint32_t step = 0; step < steps; ++step)
      for (std::uint32_t group = 0; group < world.groups(); ++group)
        for (int which = 0; which < 2; ++which) {
          const gpu::Stream stream = which == 0 ? world.stream(group) : second[group];
          need(world.launch_on(group, stream, hold_up_kernel, one, 2 * step + which));
          need(world.launch_on(group, stream, replayed_kernel<EpochBarrier>, shape, barriers[which],
                               exchanges[which], rounds[which]));
        }
    for (std::uint32_t group = 0; group < world.groups(); ++group) {
      must(cudaSetDevice(world.device(group)), "turning to a GPU");
      must(cudaStreamSynchronize(second[group]), "waiting for the second stream");
      must(cudaStreamDestroy(second[group]), "destroying a stream");
    }
    need(world.synchronize());
    for (const Exchange& exchange : exchanges)
      check_verdict(world, exchange, std::uint64_t{steps} * 3 * 2, text_of(devices));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("graphs", argc, argv,
             {{"replay_of_epoch", replay_of<EpochBarrier>},
              {"replay_of_flip", replay_of<FlipBarrier>},
              {"replay_of_credit", replay_of<CreditBarrier>},
              {"two_streams", two_streams}});
}
