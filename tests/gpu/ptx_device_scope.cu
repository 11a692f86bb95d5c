// What check_ptx.sh looks at: signals between the lanes of one GPU, and between parts of a lane.
#include "muster/fabric/gpu.cuh"

using namespace muster;

extern "C" __global__ void device_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                                         WaitStatus* status) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  fabric.notify(signal, fabric.rank(), 1, NotifyOp::set, Order::release, Scope::device);
  *status = fabric.wait(signal, Compare::ge, 1, Order::acquire, Scope::device);
}

extern "C" __global__ void parts_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                                        WindowRef<int> window) {
  gpu::Fabric<gpu::Block<128>> fabric(handle);
  using Half = muster::Warps<2>;
  if (fabric.in_part<Half>(0)) {
    auto part = fabric.part<Half>(0);
    part.local(window)[part.thread()] = 1;
    part.converge();
    if (part.thread() == 0)
      part.notify(signal, part.rank(), 1, NotifyOp::set, Order::release, Scope::block);
  } else {
    auto part = fabric.part<Half>(2);
    if (part.thread() == 0) (void)part.wait(signal, Compare::ge, 1, Order::acquire, Scope::block);
    part.converge();
    part.local(window)[64 + part.thread()] = part.local(window)[part.thread()];
  }
}
