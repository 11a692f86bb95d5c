#include <cuda_runtime_api.h>

#include "bench/gpu/site.hpp"

namespace muster::bench_gpu {

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

void need_gpus(int count) {
  const int here = gpu_count();
  if (here >= count) return;
  throw Unavailable("it needs " + std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
                    ", and this machine has " + (here == 0 ? "none" : std::to_string(here)));
}

double Site::timed_call(std::uint32_t calls) {
  need(world.synchronize());
  std::uint64_t took = 0;
  must(cudaMemcpy(&took, world.address(nanoseconds, Rank{0}), sizeof(took), cudaMemcpyDeviceToHost),
       "copying to the host");
  if (took == 0) throw Failure(Error{ErrorCode::expired, "a call failed"});
  return static_cast<double>(took) / calls;
}

Kept make_site(int gpus, std::uint64_t bytes) {
  need_gpus(gpus);
  std::vector<int> devices;
  for (int device = 0; device < gpus; ++device) devices.push_back(device);
  gpu::World world = need(gpu::World::create({.devices = devices,
                                              .lanes = 132,
                                              .bytes = bytes + (1U << 20U),
                                              .deadline = std::chrono::seconds(5),
                                              .verify = false}));
  const auto nanoseconds = need(world.window<std::uint64_t>({1}));
  const auto words = need(world.window<std::uint32_t>({32 * 256}));
  return std::make_shared<Site>(Site{world, nanoseconds, words, 0});
}

}  // namespace muster::bench_gpu
