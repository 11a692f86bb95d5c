// muster-peer-nvshmem: NVSHMEM between two GPUs, its barriers and signals, in kernels like
// muster-bench-gpu's. `muster bench --fabric gpu` starts it. It forks a second process, so that
// each GPU has one, as NVSHMEM wants it; no launcher is needed.
#include <cuda_runtime_api.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "bench/gpu/serve.hpp"
#include "bench/gpu/timing.cuh"

namespace {

using namespace muster::bench_gpu;

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(result));
}
void must(bool good, const char* doing) {
  if (!good) throw std::runtime_error(doing);
}

// ---- kernels

__global__ void __launch_bounds__(1024) sync_loop(Timing timing) {
  time_calls(timing, [] { nvshmemx_sync_all_block(); });
}

__global__ void __launch_bounds__(1024) barrier_loop(Timing timing) {
  time_calls(timing, [] { nvshmemx_barrier_all_block(); });
}

// Both signal, both wait.
__global__ void exchange_loop(std::uint64_t* signal, std::uint64_t first, int peer, Timing timing) {
  std::uint64_t epoch = first;
  time_calls(timing, [&] {
    ++epoch;
    nvshmemx_signal_op(signal, epoch, NVSHMEM_SIGNAL_SET, peer);
    nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, epoch);
  });
}

// One signals, the other answers.
__global__ void ping_pong_loop(std::uint64_t* signal, std::uint64_t first, int peer,
                               Timing timing) {
  std::uint64_t epoch = first;
  time_calls(timing, [&] {
    ++epoch;
    if (peer == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, epoch);
    nvshmemx_signal_op(signal, epoch, NVSHMEM_SIGNAL_SET, peer);
    if (peer == 1) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, epoch);
  });
}

// ---- one process: what it does when told

enum class Job : std::uint32_t {
  join,
  sync,
  barrier,
  exchange,
  ping_pong,
  sync_graph,
  barrier_graph,
  barrier_stream,
};

struct Order {
  Job job = Job::join;
  std::uint32_t threads = 32;
  std::uint32_t calls = 0;
  nvshmemx_uniqueid_t id{};  // of Job::join
};

class Process {
 public:
  explicit Process(int rank) : rank_(rank) {}

  // Nanoseconds for one call; 0 where there is nothing to time.
  double carry_out(const Order& order) {
    switch (order.job) {
      case Job::join: join(order.id); return 0;
      case Job::sync:
        return timed(order,
                     [&](Timing timing) { sync_loop<<<1, order.threads, 0, stream_>>>(timing); });
      case Job::barrier:
        return timed(
            order, [&](Timing timing) { barrier_loop<<<1, order.threads, 0, stream_>>>(timing); });
      case Job::exchange: return signalled(order, exchange_loop, &signals_[0], epochs_[0]);
      case Job::ping_pong: return signalled(order, ping_pong_loop, &signals_[1], epochs_[1]) / 2;
      case Job::sync_graph: return replayed(order, sync_graph_, nvshmemx_sync_all_on_stream);
      case Job::barrier_graph:
        return replayed(order, barrier_graph_, nvshmemx_barrier_all_on_stream);
      case Job::barrier_stream: return streamed(order);
    }
    return 0;
  }

 private:
  static constexpr std::uint32_t nodes = 500;

  void join(nvshmemx_uniqueid_t id) {
    must(cudaSetDevice(rank_), "turning to a GPU");
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    must(nvshmemx_set_attr_uniqueid_args(rank_, 2, &id, &attributes) == 0, "naming the processes");
    must(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0, "starting NVSHMEM");
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    must(cudaEventCreate(&begin_), "making an event");
    must(cudaEventCreate(&end_), "making an event");
    must(cudaMallocHost(&nanoseconds_, sizeof(*nanoseconds_)), "allocating");
    signals_ = static_cast<std::uint64_t*>(nvshmem_calloc(2, sizeof(*signals_)));
    must(signals_ != nullptr, "nvshmem_calloc");
    nvshmem_barrier_all();
  }

  template <class Launch>
  double timed(const Order& order, Launch launch) {
    launch(Timing{nanoseconds_, order.calls});
    must(cudaGetLastError(), "launching");
    must(cudaStreamSynchronize(stream_), "waiting for a kernel");
    return static_cast<double>(*nanoseconds_) / order.calls;
  }

  template <class Kernel>
  double signalled(const Order& order, Kernel kernel, std::uint64_t* signal, std::uint64_t& epoch) {
    const double took = timed(order, [&](Timing timing) {
      kernel<<<1, 1, 0, stream_>>>(signal, epoch, 1 - rank_, timing);
    });
    epoch += warm_calls + order.calls;
    return took;
  }

  double between_events(std::uint64_t calls) {
    float milliseconds = 0;
    must(cudaStreamSynchronize(stream_), "waiting for a stream");
    must(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading a timer");
    return 1e6 * static_cast<double>(milliseconds) / static_cast<double>(calls);
  }

  template <class Call>
  double replayed(const Order& order, cudaGraphExec_t& graph, Call call) {
    if (graph == nullptr) graph = capture(call);
    const std::uint32_t replays = std::max(1U, (order.calls + nodes - 1) / nodes);
    must(cudaEventRecord(begin_, stream_), "starting a timer");
    for (std::uint32_t i = 0; i < replays; ++i)
      must(cudaGraphLaunch(graph, stream_), "launching a graph");
    must(cudaEventRecord(end_, stream_), "stopping a timer");
    return between_events(std::uint64_t{replays} * nodes);
  }

  template <class Call>
  cudaGraphExec_t capture(Call call) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    call(stream_);  // whatever it sets up the first time
    must(cudaStreamSynchronize(stream_), "waiting for a stream");
    must(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    for (std::uint32_t i = 0; i < nodes; ++i) call(stream_);
    must(cudaStreamEndCapture(stream_, &graph), "ending a capture");
    must(cudaGraphInstantiate(&made, graph, 0), "instantiating a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    return made;
  }

  double streamed(const Order& order) {
    must(cudaEventRecord(begin_, stream_), "starting a timer");
    for (std::uint32_t i = 0; i < order.calls; ++i) nvshmemx_barrier_all_on_stream(stream_);
    must(cudaEventRecord(end_, stream_), "stopping a timer");
    return between_events(order.calls);
  }

  int rank_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  cudaGraphExec_t sync_graph_ = nullptr;
  cudaGraphExec_t barrier_graph_ = nullptr;
  std::uint64_t* nanoseconds_ = nullptr;
  std::uint64_t* signals_ = nullptr;  // symmetric
  std::array<std::uint64_t, 2> epochs_{};
};

// ---- both processes

bool send_all(int socket, const void* bytes, std::size_t count) {
  return send(socket, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

// The second process: does what the first one tells it, until that one ends.
int follow(int socket) {
  Process process(1);
  Order order;
  while (recv(socket, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
    std::array<char, 256> failure{};  // empty: none
    try {
      (void)process.carry_out(order);
    } catch (const std::exception& wrong) {
      std::snprintf(failure.data(), failure.size(), "%s", wrong.what());
    }
    if (!send_all(socket, failure.data(), failure.size())) break;
  }
  _exit(0);
}

class Pair {
 public:
  explicit Pair(int socket) : socket_(socket) {}

  double carry_out(Order order) {
    if (!joined_) {
      joined_ = true;
      Order join;
      must(nvshmemx_get_uniqueid(&join.id) == 0, "making NVSHMEM's unique id");
      (void)both(join);
    }
    return both(order);
  }

 private:
  double both(const Order& order) {
    must(send_all(socket_, &order, sizeof(order)), "the second process has ended");
    const double took = process_.carry_out(order);
    std::array<char, 256> failure{};
    must(recv(socket_, failure.data(), failure.size(), MSG_WAITALL) ==
             static_cast<ssize_t>(failure.size()),
         "the second process has ended");
    if (failure[0] != 0) throw std::runtime_error(failure.data());
    return took;
  }

  int socket_;
  bool joined_ = false;
  Process process_{0};
};

std::string devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) throw Unavailable("it needs 2 GPUs");
  return std::to_string(count) + " GPUs";
}

std::vector<Contender> list(Pair& pair, const Wanted& wanted) {
  (void)devices();
  std::vector<Contender> all;
  const auto add = [&](const char* name, Job job, std::uint32_t threads = 1) {
    const std::string full = "NVSHMEM " + std::to_string(NVSHMEM_VENDOR_MAJOR_VERSION) + "." +
                             std::to_string(NVSHMEM_VENDOR_MINOR_VERSION) + "." +
                             std::to_string(NVSHMEM_VENDOR_PATCH_VERSION) + ", " + name;
    all.push_back({"peer", "nvshmem", full, [&pair, job, threads](std::uint32_t calls) {
                     return pair.carry_out({.job = job, .threads = threads, .calls = calls});
                   }});
  };
  if (wanted.topic == "notify" && wanted.variant == "relaxed")
    add("signal_op, wait", Job::ping_pong);
  if (wanted.topic != "barrier") return all;
  if (wanted.variant == "relaxed, 32 threads") add("signal_op, wait", Job::exchange);
  if (wanted.variant == "a kernel each, in a graph") {
    add("sync_all_on_stream", Job::sync_graph);
    add("barrier_all_on_stream", Job::barrier_graph);
    add("barrier_all_on_stream, no graph", Job::barrier_stream);
  }
  for (const std::uint32_t threads : {32U, 256U, 1024U}) {
    const std::string tail = ", " + std::to_string(threads) + " threads";
    if (wanted.variant == "relaxed" + tail) add("sync_all_block", Job::sync, threads);
    if (wanted.variant == "acq_rel" + tail) add("barrier_all_block", Job::barrier, threads);
  }
  return all;
}

}  // namespace

int main() {
  // One host, its NVLink, without multicast; no thread that polls beside the kernels.
  setenv("NVSHMEM_DISABLE_NVLS", "1", 0);
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  setenv("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1", 0);
  setenv("NVSHMEM_SYMMETRIC_SIZE", "64M", 0);
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    std::perror("socketpair");
    return 1;
  }
  const pid_t second = fork();  // before either has touched CUDA
  if (second < 0) {
    std::perror("fork");
    return 1;
  }
  if (second == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets[0]);
    dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is for replies
    return follow(sockets[1]);
  }
  close(sockets[1]);
  Pair pair(sockets[0]);
  const int status = serve({devices, [&pair](const Wanted& wanted) { return list(pair, wanted); }});
  _exit(status);  // the second process ends with the first: nothing is left to be agreed upon
}
