// Slots whose data is its own flag, and kernels that begin before the one before them has ended:
// all_reduces on fresh data with poisoned outputs, in kernels that follow each other at once and in
// graphs that are replayed, on 2, 3, 4 and 8 ranks, on one GPU and on two.
#include <cuda_runtime_api.h>

#include "gpu/device_checks.cuh"
#include "muster/collective/sentinel_all_reduce.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t threads = 64;
constexpr std::int64_t most = 5000;  // elements of a call

// Small whole numbers: their sums are exact in every type. Every call has a NaN of all bits on one
// rank, at another place.
template <class T>
[[nodiscard]] __device__ T input(Rank rank, std::uint32_t call, std::int64_t at, std::int64_t nan) {
  if (at == nan && rank.value == call % 2)
    return __builtin_bit_cast(T, static_cast<detail::SentinelBits<T>>(~0ULL));
  return T(static_cast<float>((rank.value * 3 + call * 5 + static_cast<std::uint32_t>(at)) % 16));
}

template <class T>
struct Data {
  WindowRef<T> from;
  WindowRef<T> to;
  Counter calls;  // made so far, of each lane: what the input depends on
  std::int64_t count;
};

template <class F>
__device__ void spin(F& fabric, std::uint32_t call) {  // ranks that are not in step
  if (call % 7 != fabric.rank().value % 7) return;
  const std::uint64_t begin = clock64();
  while (clock64() - begin < 20'000U * (call % 3)) {
  }
}

// Fills the input, poisons the output, adds up, and looks at the sums.
template <class T, std::int64_t C, std::uint32_t sets>
__global__ void __launch_bounds__(threads)
    reduce_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                  SentinelAllReduce<T, C, sets> sum, Data<T> data) {
  gpu::Fabric<gpu::Block<threads>> fabric(handle);
  DeviceChecks checks(fabric, board);
  fabric.launch_wait();
  const Counter counter{.segment = data.calls.segment,
                        .cell = data.calls.cell + fabric.lane().value};
  const std::uint32_t call = fabric.counter(counter);
  const std::int64_t nan = data.count > 0 ? call % data.count : -1;
  const auto each_own = [&](auto visit) {
    for (std::int64_t at = fabric.lane().value * C; at < data.count; at += fabric.lanes() * C)
      for (std::int64_t i = at + fabric.thread(); i < at + C && i < data.count; i += threads)
        visit(i);
  };
  spin(fabric, call);
  each_own([&](std::int64_t i) {
    fabric.local(data.from)[i] = input<T>(fabric.rank(), call, i, nan);
    fabric.local(data.to)[i] = T(-1.0F);
  });
  fabric.converge();
  checks.ok(sum.run(fabric, data.to, data.from, data.count));
  each_own([&](std::int64_t i) {
    float all = 0;
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
      all += static_cast<float>(input<T>(Rank{rank}, call, i, nan));
    const T seen_number = fabric.local(data.to)[i];
    const auto seen = static_cast<float>(seen_number);
    checks.holds(seen == all || (all != all && seen != seen));
  });
  fabric.converge();
  if (fabric.thread() == 0) {
    fabric.set_counter(counter, call + 1);
    checks.end();
  }
}

constexpr std::uint32_t lane_counts[] = {1, 3, 2};

template <class T, std::int64_t C, std::uint32_t sets>
Data<T> make_data(gpu::World& world) {
  return {need(world.window<T>({most})), need(world.window<T>({most})),
          need(world.rows()).epoch(Lane{0}), 0};
}

// Kernels of all counts and of changing lanes follow each other at once.
template <class T, std::int64_t C, std::uint32_t sets>
void reduce() {
  constexpr std::int64_t counts[] = {most, 0, 1, C, C + 1, most - 3};
  constexpr std::uint32_t calls = 20;
  on_every_placement((1 + 3 + 2) * 6 * calls, [&](gpu::World& world, const Board& board) {
    Data<T> data = make_data<T, C, sets>(world);
    const SentinelAllReduce<T, C, sets> sum(world, most);
    for (std::uint32_t call = 0; call < calls; ++call)
      for (const std::int64_t count : counts)
        for (const std::uint32_t lanes : lane_counts) {
          data.count = count;
          need(world.launch(reduce_kernel<T, C, sets>,
                            {.lanes = lanes, .threads = threads, .overlaps = call % 5 != 4}, board,
                            sum, data));
        }
  });
}

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

// Captured once: a graph of four kernels that overlap, replayed with data that changes.
void replayed() {
  constexpr std::uint32_t replays = 2500;
  constexpr std::uint32_t calls = 4;
  using Sum16 = SentinelAllReduce<bfloat16, 512>;
  on_every_placement(2 * calls * replays, [&](gpu::World& world, const Board& board) {
    Data<bfloat16> data = make_data<bfloat16, 512, 2>(world);
    data.count = 1000;
    const Sum16 sum(world, most);
    const gpu::Shape shape{.lanes = 2, .threads = threads, .overlaps = true};
    need(world.prepare(reduce_kernel<bfloat16, 512, 2>, shape));
    std::vector<cudaGraphExec_t> graphs(world.groups());
    for (std::uint32_t group = 0; group < world.groups(); ++group) {
      must(cudaSetDevice(world.device(group)), "turning to a GPU");
      const gpu::Stream stream = world.stream(group);
      cudaGraph_t graph = nullptr;
      must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
      for (std::uint32_t call = 0; call < calls; ++call)
        need(world.launch_on(group, stream, reduce_kernel<bfloat16, 512, 2>, shape, board, sum,
                             data));
      must(cudaStreamEndCapture(stream, &graph), "ending a capture");
      must(cudaGraphInstantiate(&graphs[group], graph, 0), "instantiating a graph");
      must(cudaGraphDestroy(graph), "destroying a graph");
    }
    for (std::uint32_t i = 0; i < replays; ++i)
      for (std::uint32_t group = 0; group < world.groups(); ++group) {
        must(cudaSetDevice(world.device(group)), "turning to a GPU");
        must(cudaGraphLaunch(graphs[group], world.stream(group)), "launching a graph");
      }
    need(world.synchronize());
    for (cudaGraphExec_t graph : graphs) must(cudaGraphExecDestroy(graph), "destroying a graph");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return muster::gpu_test::run("sentinels", argc, argv,
                               {{"float", reduce<float, 256, 2>},
                                {"float in three sets", reduce<float, 256, 3>},
                                {"double", reduce<double, 128, 2>},
                                {"bfloat16", reduce<bfloat16, 512, 2>},
                                {"float16", reduce<float16, 512, 3>},
                                {"float16, rows of odd length", reduce<float16, 33, 2>},
                                {"replayed", replayed}});
}
