// What check_ptx.sh looks at: a kernel without checks compares its launch with its fabric's lane.
#undef MUSTER_VERIFY
#define MUSTER_VERIFY 0
#include "muster/fabric/gpu.cuh"

using namespace muster;

extern "C" __global__ void block_kernel(const __grid_constant__ gpu::Handle handle,
                                        WindowRef<float> window) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  fabric.local(window)[fabric.thread()] = 1;
}

extern "C" __global__ void warp_kernel(const __grid_constant__ gpu::Handle handle,
                                       WindowRef<float> window) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  fabric.local(window)[fabric.thread()] = 1;
}

extern "C" __global__ void any_kernel(const __grid_constant__ gpu::Handle handle,
                                      WindowRef<float> window) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  fabric.local(window)[fabric.thread()] = 1;
}
