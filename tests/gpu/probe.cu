// Facts about the machine that muster's advice rests on; prints them and passes either way.
#include <cuda_runtime_api.h>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

__global__ void wait_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                            WindowRef<std::uint32_t> statuses) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  const WaitStatus status = fabric.wait(signal, Compare::ge, 1);
  if (fabric.lane().value == 0) fabric.local(statuses)[0] = static_cast<std::uint32_t>(status);
}

__global__ void set_kernel(const __grid_constant__ gpu::Handle handle, Signal signal) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  fabric.notify(signal, fabric.rank(), 1, NotifyOp::set);
}

// A kernel in one stream waits for one in another: do they run at once?
bool run_at_once(bool cooperative) {
  gpu::World world = need(
      gpu::World::create({.devices = {0}, .lanes = 4, .deadline = std::chrono::milliseconds(500)}));
  const Signals signals = need(world.signals(1));
  const auto statuses = need(world.window<std::uint32_t>({1}));
  const gpu::Shape shape{.lanes = 4, .threads = 1, .cooperative = cooperative};
  need(world.prepare(wait_kernel, shape));
  need(world.prepare(set_kernel, shape));
  cudaStream_t second = nullptr;
  must(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "making a stream");
  need(world.launch_on(0, world.stream(0), wait_kernel, shape, signals[0], statuses));
  need(world.launch_on(0, second, set_kernel, shape, signals[0]));
  must(cudaStreamSynchronize(second), "waiting");
  (void)world.synchronize();
  must(cudaStreamDestroy(second), "destroying a stream");
  return fetch(world, statuses, Rank{0})[0] == static_cast<std::uint32_t>(WaitStatus::ok);
}

void streams() {
  std::printf("    kernels of two streams run at once: plain %s, cooperative %s\n",
              run_at_once(false) ? "yes" : "NO", run_at_once(true) ? "yes" : "NO");
}

void links() {
  for (int from = 0; from < gpu_count(); ++from)
    for (int to = 0; to < gpu_count(); ++to) {
      if (from == to) continue;
      int access = 0;
      int atomics = 0;
      int rank = 0;
      must(cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from, to), "asking");
      must(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
           "asking");
      must(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to), "asking");
      std::printf("    GPU %d to %d: access %d, atomics %d, performance rank %d\n", from, to,
                  access, atomics, rank);
    }
}

}  // namespace

int main(int argc, char** argv) {
  return run("probe", argc, argv, {{"streams", streams}, {"links", links}});
}
