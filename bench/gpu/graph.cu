// One barrier for each kernel, 500 kernels in a graph: what a barrier costs that stands alone.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench/gpu/pair.hpp"
#include "muster/packet.hpp"

namespace {

using namespace muster;
using namespace muster::bench_gpu;
using Kept = std::shared_ptr<Pair>;

constexpr int nodes = 500;

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

__global__ void empty_kernel(std::uint32_t* word) {
  if (word == nullptr) __trap();
}

__global__ void empty_handle_kernel(const __grid_constant__ gpu::Handle handle) {
  if (handle.ranks == 0) __trap();
}

// The least that a barrier of release and acquire needs when it stands alone: its epoch is in
// memory.
__global__ void bare_kernel(Wires wires, std::uint32_t* epoch) {
  if (threadIdx.x != 0) return;
  const std::uint32_t value = *epoch + 1;
  Word(*wires.theirs).store(value, cuda::memory_order_release);
  while (static_cast<std::int32_t>(Word(*wires.mine).load(cuda::memory_order_acquire) - value) <
         0) {
  }
  *epoch = value;
}

template <class Coop, class Barrier>
__global__ void barrier_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier) {
  gpu::Fabric<Coop> fabric(handle);
  (void)barrier.sync(fabric);
}

// The compare-and-swap barrier, as a kernel of its own.
__global__ void swap_kernel(Wires wires) {
  if (threadIdx.x == 0) {
    std::uint32_t expected = 0;
    while (!Word(*wires.theirs)
                .compare_exchange_strong(expected, 1, cuda::memory_order_release,
                                         cuda::memory_order_relaxed))
      expected = 0;
    expected = 1;
    while (!Word(*wires.mine)
                .compare_exchange_strong(expected, 0, cuda::memory_order_acquire,
                                         cuda::memory_order_relaxed))
      expected = 1;
  }
  __syncthreads();
}

// ---- 4 KiB exchanged in packets: 4 blocks of 256 threads, a float with its flag for each thread

constexpr std::uint32_t packet_lanes = 4;
constexpr std::uint32_t packet_threads = 256;
using Packets = PacketExchange<float, 1, packet_threads>;

// Two alternating sets of slots, and the count of calls in memory, as the real one has them.
struct BareSlots {
  std::uint64_t* theirs;
  std::uint64_t* mine;
  std::uint32_t* count;  // by block
};

__global__ void bare_packets_kernel(BareSlots slots, const float* from, float* to) {
  using Packet = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;
  const std::uint32_t flag = slots.count[blockIdx.x] + 1;
  const std::uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t set = (flag & 1) * gridDim.x * blockDim.x;
  const std::uint64_t word = __float_as_uint(from[at]);
  Packet(slots.theirs[set + at])
      .store(std::uint64_t{flag} << 32 | word, cuda::memory_order_relaxed);
  std::uint64_t found = 0;
  do {
    found = Packet(slots.mine[set + at]).load(cuda::memory_order_relaxed);
  } while (found >> 32 != flag);
  to[at] = __uint_as_float(static_cast<std::uint32_t>(found));
  __syncthreads();
  if (threadIdx.x == 0) slots.count[blockIdx.x] = flag;
}

__global__ void packets_kernel(const __grid_constant__ gpu::Handle handle, Packets exchange,
                               WindowRef<float> from, WindowRef<float> to) {
  gpu::Fabric<gpu::Block<packet_threads>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  const Box box{0, std::int64_t{fabric.lane().value} * packet_threads, 1, packet_threads};
  auto mine = fabric.tile<float, 1, packet_threads>();
  auto theirs = fabric.tile<float, 1, packet_threads>();
  const std::uint32_t flag = exchange.begin(fabric);
  fabric.load(mine, from, box);
  exchange.put(fabric, flag, peer, mine);
  const WaitStatus status = exchange.wait(fabric, flag, peer, theirs);
  fabric.store(theirs, to, box);
  (void)exchange.end(fabric, flag, status);
}

// A graph of `nodes` launches for each of the two GPUs.
struct Graphs {
  cudaGraphExec_t executable[2] = {};
};

template <class Launch>
Graphs capture(const Kept& pair, Launch launch) {
  Graphs made;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    must(cudaSetDevice(pair->world.device(rank)), "turning to a GPU");
    const gpu::Stream stream = pair->world.stream(rank);
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    for (int i = 0; i < nodes; ++i) launch(Rank{rank}, stream);
    must(cudaStreamEndCapture(stream, &graph), "ending a capture");
    must(cudaGraphInstantiate(&made.executable[rank], graph, 0), "instantiating a graph");
    must(cudaGraphUpload(made.executable[rank], stream), "uploading a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    must(cudaStreamSynchronize(stream), "uploading a graph");
  }
  return made;
}

// Microseconds for a node, on GPU 0; the other GPU's graph starts first.
double replay(const Kept& pair, const Graphs& graphs) {
  must(cudaSetDevice(pair->world.device(1)), "turning to a GPU");
  must(cudaGraphLaunch(graphs.executable[1], pair->world.stream(1)), "launching a graph");
  must(cudaSetDevice(pair->world.device(0)), "turning to a GPU");
  StreamTimer timer;
  timer.start(pair->world.stream(0));
  must(cudaGraphLaunch(graphs.executable[0], pair->world.stream(0)), "launching a graph");
  timer.stop(pair->world.stream(0));
  const double took = timer.microseconds();
  need(pair->world.sync());
  return took / nodes;
}

template <class Launch>
Contender contender(const Kept& pair, const std::string& name, const std::string& baseline,
                    Launch launch) {
  const Graphs graphs = capture(pair, launch);
  return {name, "kernel in a graph", baseline, [=] { return replay(pair, graphs); }};
}

template <class Barrier, class Kernel>
Contender muster_barrier(const Kept& pair, const std::string& name, std::uint32_t threads,
                         Kernel kernel) {
  const Barrier barrier(need(pair->world.rows(1)));
  const gpu::Shape shape{.lanes = 1, .threads = threads};
  need(pair->world.prepare(kernel, shape));
  return contender(pair, "muster " + name, "bare release-acquire barrier",
                   [=](Rank rank, gpu::Stream stream) {
                     need(pair->world.launch_on(rank.value, stream, kernel, shape, barrier));
                   });
}

std::vector<Contender> make_contenders(const Kept& pair) {
  std::vector<Contender> all;
  const std::uint32_t bare_word = pair->take_word();
  const std::uint32_t epoch_word = pair->take_word();
  const std::uint32_t swap_word = pair->take_word();
  const gpu::Handle handle = pair->world.handle(0);
  all.push_back(contender(pair, "empty", "", [=](Rank rank, gpu::Stream stream) {
    empty_kernel<<<1, 32, 0, stream>>>(pair->wires(rank, 0).mine);
  }));
  all.push_back(contender(pair, "empty, with a handle", "", [=](Rank, gpu::Stream stream) {
    empty_handle_kernel<<<1, 32, 0, stream>>>(handle);
  }));
  all.push_back(
      contender(pair, "bare release-acquire barrier", "", [=](Rank rank, gpu::Stream stream) {
        bare_kernel<<<1, 32, 0, stream>>>(pair->wires(rank, bare_word),
                                          pair->wires(rank, epoch_word).mine);
      }));
  all.push_back(
      muster_barrier<EpochBarrier>(pair, "epoch", 32, barrier_kernel<gpu::Warp, EpochBarrier>));
  all.push_back(muster_barrier<EpochBarrier>(pair, "epoch, 256 threads", 256,
                                             barrier_kernel<gpu::Block<256>, EpochBarrier>));
  all.push_back(
      muster_barrier<FlipBarrier>(pair, "flip", 32, barrier_kernel<gpu::Warp, FlipBarrier>));
  all.push_back(contender(pair, "compare-and-swap barrier", "bare release-acquire barrier",
                          [=](Rank rank, gpu::Stream stream) {
                            swap_kernel<<<1, 32, 0, stream>>>(pair->wires(rank, swap_word));
                          }));
  return all;
}

void add_packets(std::vector<Contender>& all, const Kept& pair) {
  gpu::World& world = pair->world;
  constexpr std::int64_t floats = packet_lanes * packet_threads;
  const auto from = need(world.window<float>({floats}));
  const auto to = need(world.window<float>({floats}));
  const auto slots = need(world.window<std::uint64_t>({2 * floats}));
  const auto counts = need(world.window<std::uint32_t>({packet_lanes}));
  const std::string bare = "bare packets, 4 KiB";
  all.push_back(contender(pair, bare, "", [=](Rank rank, gpu::Stream stream) {
    const gpu::World& here = pair->world;
    const BareSlots words{here.address(slots, Rank{1 - rank.value}), here.address(slots, rank),
                          here.address(counts, rank)};
    bare_packets_kernel<<<packet_lanes, packet_threads, 0, stream>>>(
        words, here.address(from, rank), here.address(to, rank));
  }));
  const Packets exchange(world);
  const gpu::Shape shape{.lanes = packet_lanes, .threads = packet_threads, .cooperative = false};
  need(world.prepare(packets_kernel, shape));
  all.push_back(contender(pair, "muster packets, 4 KiB", bare, [=](Rank rank, gpu::Stream stream) {
    need(pair->world.launch_on(rank.value, stream, packets_kernel, shape, exchange, from, to));
  }));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (gpu_count() < 2) {
    std::printf("SKIPPED: this benchmark needs 2 GPUs, this machine shows %d\n", gpu_count());
    return 0;
  }
  try {
    const Kept pair = make_pair();
    std::vector<Contender> contenders = make_contenders(pair);
    add_packets(contenders, pair);
    return report("between two GPUs, a kernel each, in a graph", contenders, options);
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n", failure.what());
    return 1;
  }
}
