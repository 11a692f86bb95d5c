// Notify and wait as operations of streams: plain, in graphs that are replayed, in both directions,
// between GPUs and between two ranks of one, against kernels, and while every multiprocessor is
// busy. All on memory of both kinds: that of one process, and that which processes share.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "gpu/exchange.cuh"
#include "gpu/support.hpp"
#include "muster/fabric/gpu/stream.hpp"
#include "muster/handoff.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t replays = 10'000;
constexpr std::uint32_t plain_rounds = 1'000;
constexpr std::uint32_t words = 16U << 10U;  // that pass in each round

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

// A wait in a stream has no deadline: what blocks for ever is ended with the program.
extern "C" void give_up(int /*signal*/) {
  constexpr char text[] = "FAILED  streams: a stream has not gone on for 40 s\n";
  if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) _exit(3);
  _exit(1);
}

// ---- what passes: `words` stamps of a round that is counted in the rank's own memory

__global__ void fill_kernel(std::uint32_t* to, const std::uint32_t* round, std::uint32_t rank) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = mix(*round, rank * words + i);
}

// verdict: wrong stamps, rounds made, then found and expected of a wrong one.
__global__ void check_kernel(const std::uint32_t* inbox, const std::uint32_t* round,
                             std::uint32_t from, std::uint32_t* verdict) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t expected = mix(*round, from * words + i);
  if (inbox[i] == expected) return;
  if (atomicAdd(&verdict[0], 1U) == 0) {
    verdict[2] = inbox[i];
    verdict[3] = expected;
  }
}

__global__ void next_round_kernel(std::uint32_t* round, std::uint32_t* verdict) {
  ++*round;
  ++verdict[1];
}

__global__ void read_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                            WindowRef<std::uint32_t> to) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  fabric.local(to)[0] = fabric.read(signal);
}

__global__ void pong_kernel(const __grid_constant__ gpu::Handle handle, Signal ping, Signal pong,
                            std::uint32_t rounds) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    if (fabric.wait(ping, Compare::ge, round) != WaitStatus::ok) return;
    fabric.notify(pong, peer, round, NotifyOp::set);
  }
}

// Every block of it must run at once.
__global__ void all_at_once_kernel(std::uint32_t* arrived) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> count(*arrived);
  count.fetch_add(1, cuda::memory_order_relaxed);
  while (count.load(cuda::memory_order_relaxed) < gridDim.x) {
  }
}

void load_kernels(const std::vector<int>& devices) {
  // While a stream waits, loading a kernel might wait for it.
  for (const int device : devices) {
    must(cudaSetDevice(device), "turning to a GPU");
    cudaFuncAttributes unused{};
    for (const void* kernel :
         {reinterpret_cast<const void*>(fill_kernel), reinterpret_cast<const void*>(check_kernel),
          reinterpret_cast<const void*>(next_round_kernel),
          reinterpret_cast<const void*>(all_at_once_kernel)})
      must(cudaFuncGetAttributes(&unused, kernel), "loading a kernel");
  }
}

// ---- worlds

// A bootstrap of one process: the memory is made as for several.
struct Site {
  Site(std::vector<int> wanted, bool shared) : devices(std::move(wanted)) {
    const gpu::WorldOptions options{
        .devices = devices, .lanes = 1, .bytes = 4U << 20U, .deadline = patience()};
    if (shared) bootstraps = need(gpu::make_bootstraps(1));
    world = std::make_unique<gpu::World>(shared ? need(gpu::World::join(options, bootstraps[0]))
                                                : need(gpu::World::create(options)));
    what = text_of(devices) + (shared ? ", shared memory" : "");
    load_kernels(devices);
  }
  ~Site() {
    world.reset();
    for (gpu::Bootstrap& bootstrap : bootstraps) gpu::close_bootstrap(bootstrap);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  std::vector<int> devices;
  std::vector<gpu::Bootstrap> bootstraps;
  std::unique_ptr<gpu::World> world;
  std::string what;
};

// Two ranks: on two GPUs first.
template <class Body>
void on_every_pair(Body body) {
  std::vector<std::vector<int>> pairs;
  if (gpu_count() > 1)
    pairs.push_back({0, 1});
  else
    std::printf("SKIPPED: streams between two GPUs need 2 GPUs\n");
  pairs.push_back({0, 0});
  for (const auto& devices : pairs)
    for (const bool shared : {false, true}) {
      Site site(devices, shared);
      alarm(40);
      body(site);
      alarm(0);
    }
}

// ---- one rank's side of the exchange, in a stream of its own

class Side {
 public:
  Side(Site& site, Handoff handoff, std::uint32_t rank, WindowRef<std::uint32_t> inbox,
       WindowRef<std::uint32_t> round, WindowRef<std::uint32_t> verdict)
      : site_(site),
        handoff_(handoff),
        rank_{rank},
        peer_{1 - rank},
        inbox_(inbox),
        round_(round),
        verdict_(verdict) {
    turn_to_gpu();
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }
  ~Side() {
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
    (void)cudaStreamDestroy(stream_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // Sends and receives: nothing in it changes from round to round.
  void enqueue_round() {
    turn_to_gpu();
    gpu::World& world = *site_.world;
    std::uint32_t* const round = world.address(round_, rank_);
    gpu::StreamLane lane(world, rank_, stream_);
    (void)handoff_.vacant(lane);
    fill_kernel<<<words / 256, 256, 0, stream_>>>(world.address(inbox_, peer_), round, rank_.value);
    handoff_.post(lane, peer_);
    (void)handoff_.wait(lane);
    check_kernel<<<words / 256, 256, 0, stream_>>>(world.address(inbox_, rank_), round, peer_.value,
                                                   world.address(verdict_, rank_));
    handoff_.acknowledge(lane, peer_);
    next_round_kernel<<<1, 1, 0, stream_>>>(round, world.address(verdict_, rank_));
    must(cudaGetLastError(), "launching");
    need(lane.result());
  }

  void capture_round() {
    turn_to_gpu();
    must(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    enqueue_round();
    must(cudaStreamEndCapture(stream_, &graph_), "ending a capture");
    must(cudaGraphInstantiate(&executable_, graph_, 0), "instantiating a graph");
  }
  void replay() {
    turn_to_gpu();
    must(cudaGraphLaunch(executable_, stream_), "launching a graph");
  }

  void finish(std::uint32_t rounds) {
    must(cudaStreamSynchronize(stream_), "waiting for a stream");
    const auto verdict = fetch(*site_.world, verdict_, rank_);
    expect(verdict[0] == 0, "%s: rank %u found %u wrong stamps, one of them %x, not %x",
           site_.what.c_str(), rank_.value, verdict[0], verdict[2], verdict[3]);
    expect(verdict[1] == rounds, "%s: rank %u made %u rounds, not %u", site_.what.c_str(),
           rank_.value, verdict[1], rounds);
  }

 private:
  void turn_to_gpu() const { must(cudaSetDevice(site_.devices[rank_.value]), "turning to a GPU"); }

  Site& site_;
  Handoff handoff_;
  Rank rank_;
  Rank peer_;
  WindowRef<std::uint32_t> inbox_;
  WindowRef<std::uint32_t> round_;
  WindowRef<std::uint32_t> verdict_;
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

struct Pair {
  explicit Pair(Site& site)
      : handoff(*site.world),
        inbox(need(site.world->window<std::uint32_t>({words}))),
        round(need(site.world->window<std::uint32_t>({1}))),
        verdict(need(site.world->window<std::uint32_t>({4}))),
        first(site, handoff, 0, inbox, round, verdict),
        second(site, handoff, 1, inbox, round, verdict) {}
  Handoff handoff;
  WindowRef<std::uint32_t> inbox;
  WindowRef<std::uint32_t> round;
  WindowRef<std::uint32_t> verdict;
  Side first;
  Side second;
};

std::uint32_t value_of(Site& site, Signal signal, std::uint32_t rank) {
  const auto to = need(site.world->window<std::uint32_t>({1}));
  need(site.world->launch(read_kernel, {.lanes = 1, .threads = 1}, signal, to));
  need(site.world->synchronize());
  const std::uint32_t value = fetch(*site.world, to, Rank{rank})[0];
  need(site.world->free(to));
  return value;
}

void expect_cells_zero(Site& site, const Handoff& handoff) {
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (const Signal cell : {handoff.filled(), handoff.busy()}) {
      const std::uint32_t value = value_of(site, cell, rank);
      expect(value == 0, "%s: cell %u of rank %u is %u at the end", site.what.c_str(), cell.cell,
             rank, value);
    }
}

void plain_streams() {
  on_every_pair([](Site& site) {
    Pair pair(site);
    for (std::uint32_t i = 0; i < plain_rounds; ++i) {
      pair.first.enqueue_round();
      pair.second.enqueue_round();
    }
    pair.first.finish(plain_rounds);
    pair.second.finish(plain_rounds);
    expect_cells_zero(site, pair.handoff);
  });
}

void replayed_graphs() {
  on_every_pair([](Site& site) {
    Pair pair(site);
    pair.first.capture_round();
    pair.second.capture_round();
    for (std::uint32_t i = 0; i < replays; ++i) {
      pair.first.replay();
      pair.second.replay();
    }
    pair.first.finish(replays);
    pair.second.finish(replays);
    expect_cells_zero(site, pair.handoff);
  });
}

// ---- a kernel at one end: epochs, since nothing is replayed

void against_kernels() {
  if (gpu_count() < 2) {
    std::printf("SKIPPED: streams.against_kernels needs 2 GPUs\n");
    return;
  }
  for (const bool shared : {false, true}) {
    Site site({0, 1}, shared);
    alarm(40);
    gpu::World& world = *site.world;
    const Signals cells = need(world.signals(2));
    const gpu::Shape one{.lanes = 1, .threads = 1};
    need(world.prepare(pong_kernel, one));
    need(world.launch_on(1, world.stream(1), pong_kernel, one, cells[0], cells[1], plain_rounds));
    for (std::uint32_t round = 1; round <= plain_rounds; ++round) {
      need(world.notify_on(Rank{0}, world.stream(0), cells[0], Rank{1}, round));
      // gt of one less, every other time.
      need(round % 2 == 0
               ? world.wait_on(Rank{0}, world.stream(0), cells[1], Compare::ge, round)
               : world.wait_on(Rank{0}, world.stream(0), cells[1], Compare::gt, round - 1));
    }
    need(world.synchronize());
    expect(value_of(site, cells[1], 0) == plain_rounds, "%s: the last answer", site.what.c_str());
    alarm(0);
  }
}

// ---- a stream waits while all blocks that fit on the GPU run

void busy_multiprocessors() {
  Site site({0}, false);
  alarm(40);
  gpu::World& world = *site.world;
  const Signals cells = need(world.signals(1));
  const auto arrived = need(world.window<std::uint32_t>({1}));
  int processors = 0;
  int each = 0;
  must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "counting");
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, all_at_once_kernel, 1024, 0),
       "counting");
  cudaStream_t waiting = nullptr;
  must(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking), "making a stream");
  need(world.wait_on(Rank{0}, waiting, cells[0], Compare::eq, 3));
  // Not cooperative: that they all run at once is what is tried.
  all_at_once_kernel<<<static_cast<unsigned>(processors * each), 1024, 0, world.stream(0)>>>(
      world.address(arrived, Rank{0}));
  must(cudaGetLastError(), "launching as many blocks as fit");
  need(world.synchronize());
  expect(cudaStreamQuery(waiting) == cudaErrorNotReady, "the wait ended before its signal");
  (void)cudaGetLastError();
  need(world.notify_on(Rank{0}, world.stream(0), cells[0], Rank{0}, 3));
  must(cudaStreamSynchronize(waiting), "waiting for the stream that waits");
  must(cudaStreamDestroy(waiting), "destroying a stream");
  alarm(0);
}

// ---- arguments

void null_stream() {
  Site site({0}, false);
  alarm(40);
  gpu::World& world = *site.world;
  const Signals cells = need(world.signals(1));
  need(world.notify_on(Rank{0}, nullptr, cells[0], Rank{0}, 7));
  need(world.wait_on(Rank{0}, nullptr, cells[0], Compare::eq, 7));
  must(cudaStreamSynchronize(nullptr), "waiting for the default stream");
  expect(value_of(site, cells[0], 0) == 7, "the signal is not 7");
  alarm(0);
}

void refusals() {
  Site site({0, 0}, false);
  gpu::World& world = *site.world;
  const Signals cells = need(world.signals(1));
  const gpu::Stream stream = world.stream(0);
  const auto refused = [](const Result<void>& result, const char* what) {
    expect(!result && result.error().code == ErrorCode::invalid_argument, "%s: %s", what,
           result ? "no error" : to_string(result.error()).c_str());
  };
  refused(world.notify_on(Rank{2}, stream, cells[0], Rank{0}, 1), "a rank that is not there");
  refused(world.notify_on(Rank{0}, stream, cells[0], Rank{2}, 1), "a peer that is not there");
  refused(world.notify_on(Rank{0}, stream, Signal{0, 99}, Rank{1}, 1), "a signal of nobody");
  refused(world.wait_on(Rank{0}, stream, Signal{1, 0}, Compare::eq, 1), "a segment of nobody");
  refused(world.wait_on(Rank{0}, stream, cells[0], Compare::lt, 1), "lt");
  if (gpu_count() > 1) {
    must(cudaSetDevice(1), "turning to a GPU");
    cudaStream_t other = nullptr;
    must(cudaStreamCreate(&other), "making a stream");
    refused(world.wait_on(Rank{0}, other, cells[0], Compare::eq, 0), "a stream of another GPU");
    must(cudaStreamDestroy(other), "destroying a stream");
  }
  gpu::StreamLane lane(world, Rank{0}, stream);
  lane.notify(cells[0], Rank{1}, 1, NotifyOp::add);
  refused(lane.result(), "add");
  need(world.synchronize());
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::signal(SIGALRM, give_up);
  return run("streams", argc, argv,
             {{"null_stream", null_stream},
              {"refusals", refusals},
              {"busy_multiprocessors", busy_multiprocessors},
              {"against_kernels", against_kernels},
              {"plain_streams", plain_streams},
              {"replayed_graphs", replayed_graphs}});
}
