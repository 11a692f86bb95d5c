// What check_ptx.sh looks at: the default barrier between GPUs, one-shot and scoped.
#include "muster/barrier/epoch.hpp"
#include "muster/fabric/gpu.cuh"

using namespace muster;

extern "C" __global__ void epoch_kernel(const __grid_constant__ gpu::Handle handle,
                                        EpochBarrier barrier, WaitStatus* status) {
  gpu::Fabric fabric(handle);
  const WaitStatus result = barrier.sync(fabric);
  if (fabric.thread() == 0) *status = result;
}

extern "C" __global__ void scoped_kernel(const __grid_constant__ gpu::Handle handle,
                                         EpochBarrier barrier, int steps, WaitStatus* status) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  const WaitStatus result = barrier.scoped(fabric, [&](auto& scope) {
    for (int i = 0; i < steps && scope.sync() == WaitStatus::ok; ++i) {
    }
  });
  if (fabric.thread() == 0) *status = result;
}

extern "C" __global__ void relaxed_kernel(const __grid_constant__ gpu::Handle handle,
                                          EpochBarrier barrier, WaitStatus* status) {
  gpu::Fabric fabric(handle);
  const WaitStatus result = barrier.sync(fabric, use::exit);
  if (fabric.thread() == 0) *status = result;
}
