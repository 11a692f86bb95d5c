// Ranks in several processes: memory passed by file descriptor, one board for all. The parent forks
// before anybody uses CUDA, and only gathers what its children say.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

using ChildBody = void (*)(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices);

// How many GPUs there are, asked in a process of its own: this one must not use CUDA before it
// forks.
int count_gpus_elsewhere() {
  const pid_t child = fork();
  if (child == 0) _exit(gpu_count());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int child_main(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices, ChildBody body) {
  const std::string name = "process " + std::to_string(bootstrap.process);
  char program[] = "processes";
  char* arguments[] = {program};
  return run(program, 1, arguments, {{name, [&] { body(bootstrap, devices); }}});
}

// One child for each entry of `devices_of`; true where all passed.
bool with_processes(const char* what, const std::vector<std::vector<int>>& devices_of,
                    ChildBody body) {
  std::vector<gpu::Bootstrap> bootstraps =
      need(gpu::make_bootstraps(static_cast<std::uint32_t>(devices_of.size())));
  std::fflush(stdout);
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < devices_of.size(); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::size_t other = 0; other < bootstraps.size(); ++other)
        if (other != i) gpu::close_bootstrap(bootstraps[other]);
      const int status = child_main(bootstraps[i], devices_of[i], body);
      std::fflush(stdout);
      _exit(status);
    }
    children.push_back(child);
  }
  for (gpu::Bootstrap& bootstrap : bootstraps) gpu::close_bootstrap(bootstrap);
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  std::printf("%-7s processes.%s of %zu\n", good ? "ok" : "FAILED", what, devices_of.size());
  return good;
}

// ---- what the children do

gpu::World join(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices) {
  // As a program would: else CUDA keeps a context on GPU 0, too.
  expect(cudaSetDevice(devices[0]) == cudaSuccess, "turning to GPU %d", devices[0]);
  return need(gpu::World::join(
      {.devices = devices, .lanes = 3, .bytes = 8U << 20U, .deadline = patience()}, bootstrap));
}

void exchange_once(gpu::World& world, std::uint32_t first_round) {
  const EpochBarrier epoch(world);
  const FlipBarrier flip(world);
  Exchange exchange = make_exchange(world, 3, 64, 300);
  exchange.first_round = first_round;
  exchange.skew_ns = 10'000;
  const gpu::Shape shape{.lanes = 3, .threads = 64};
  need(world.launch(exchange_kernel<gpu::Block<64>, EpochBarrier>, shape, epoch, exchange));
  exchange.first_round += 300;
  need(world.launch(exchange_kernel<gpu::Block<64>, FlipBarrier>, shape, flip, exchange));
  need(world.synchronize());
  check_verdict(world, exchange, 2 * 3 * 300, "processes");
}

void exchange_body(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices) {
  gpu::World world = join(bootstrap, devices);
  exchange_once(world, 0);
}

// Process 0 aborts; the kernels of the others end, and all can begin anew.
__global__ void absent_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  (void)barrier.sync(fabric);
}

void abort_body(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices) {
  gpu::World world = join(bootstrap, devices);
  const EpochBarrier barrier(world);
  if (bootstrap.process != 0) {
    need(world.launch(absent_kernel, {.lanes = 1, .threads = 32}, barrier));
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    world.abort("process 0 will not come");
  }
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::aborted, "%s",
         end ? "no error" : to_string(end.error()).c_str());
  need(world.reset());
  exchange_once(world, 1'000);
}

// Options that differ are an error on both sides.
void mismatch_body(const gpu::Bootstrap& bootstrap, const std::vector<int>& devices) {
  const Result<gpu::World> world =
      gpu::World::join({.devices = devices, .lanes = 1 + bootstrap.process}, bootstrap);
  expect(!world && world.error().code == ErrorCode::mismatch, "%s",
         world ? "no error" : to_string(world.error()).c_str());
}

}  // namespace

int main() {
  const int gpus = count_gpus_elsewhere();
  if (gpus == 0) {
    std::printf("SKIPPED: processes needs a GPU, this machine shows none\n");
    return 0;
  }
  const int last = gpus > 1 ? 1 : 0;
  bool good = true;
  try {
    // Two processes on one GPU take turns, so a kernel may wait for one that is not running: only
    // processes on GPUs of their own are tried.
    if (gpus > 1) {
      good = with_processes("exchange", {{0}, {1}}, exchange_body) && good;
      good =
          with_processes("exchange_with_several_ranks", {{0, 0, 0}, {1, 1}}, exchange_body) && good;
      good = with_processes("abort", {{0}, {1}}, abort_body) && good;
    } else {
      std::printf("SKIPPED: processes.exchange and processes.abort need 2 GPUs\n");
      good = with_processes("exchange", {{0}}, exchange_body) && good;
    }
    good = with_processes("mismatch", {{0}, {last}}, mismatch_body) && good;
  } catch (const Failure& failure) {
    std::printf("FAILED  processes: %s\n", failure.what());
    good = false;
  }
  return good ? 0 : 1;
}
