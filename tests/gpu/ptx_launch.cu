// What check_ptx.sh looks at, compiled for a GPU whose kernels do not overlap: launch_wait and
// launch_done are nothing there.
#undef MUSTER_VERIFY
#define MUSTER_VERIFY 0
#include "muster/fabric/gpu.cuh"

using namespace muster;

extern "C" __global__ void launch_kernel(const __grid_constant__ gpu::Handle handle,
                                         WindowRef<float> data) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  fabric.launch_wait();
  fabric.local(data)[fabric.thread()] += 1;
  fabric.launch_done();
}
