// What check_ptx.sh looks at: signals between the lanes of one GPU.
#include "muster/fabric/gpu.cuh"

using namespace muster;

extern "C" __global__ void device_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                                         WaitStatus* status) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  fabric.notify(signal, fabric.rank(), 1, NotifyOp::set, Order::release, Scope::device);
  *status = fabric.wait(signal, Compare::ge, 1, Order::acquire, Scope::device);
}
