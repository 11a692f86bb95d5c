// muster-bench-gpu: what `muster bench --fabric gpu` measures of muster's, and beside it what needs
// no other library than CUDA.
#include <cuda_runtime_api.h>

#include "bench/gpu/site.hpp"

namespace {

using namespace muster::bench_gpu;

std::string devices() {
  need_gpus(1);
  int driver = 0;
  cudaDeviceProp properties{};
  must(cudaDriverGetVersion(&driver), "asking for the driver");
  must(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  return std::to_string(gpu_count()) + " x " + properties.name + ", CUDA driver " +
         std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) +
         (MUSTER_CUDA_QUICK != 0 ? ", KERNELS COMPILED IN A HURRY: NOT TO BE MEASURED" : "");
}

std::vector<Contender> list(const Wanted& wanted) {
  if (wanted.topic == "barrier")
    return wanted.variant == "a kernel each, in a graph" ? barriers_in_graph()
                                                         : barriers(wanted.variant);
  if (wanted.topic == "notify") return notifies(wanted.variant);
  if (wanted.topic == "put") return puts(wanted.bytes, wanted.variant);
  if (wanted.topic == "get") return gets(wanted.bytes, wanted.variant);
  if (wanted.topic == "packet") return packets(wanted.bytes, wanted.variant);
  if (wanted.topic == "grid") return grids(wanted.variant);
  throw Unavailable("there is no topic '" + wanted.topic + "'");
}

}  // namespace

int main() {
  return serve({devices, list});
}
