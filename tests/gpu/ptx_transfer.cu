// What check_ptx.sh looks at: plain memory travels 16 bytes at a time, by pointer and through
// tiles.
#undef MUSTER_VERIFY
#define MUSTER_VERIFY 0
#include "muster/fabric/gpu.cuh"
#include "muster/transfer.hpp"

using namespace muster;

using Put = Transfer<WindowRef<float>, MemoryRef<const float>>;
using Get = Transfer<MemoryRef<float>, WindowRef<float>>;

extern "C" __global__ void put_kernel(const __grid_constant__ gpu::Handle handle, Put transfer,
                                      Rank peer) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  put(fabric, transfer, peer);
}

extern "C" __global__ void get_kernel(const __grid_constant__ gpu::Handle handle, Get transfer,
                                      Rank peer) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  (void)get(fabric, transfer, peer);
}

extern "C" __global__ void staged_put_kernel(const __grid_constant__ gpu::Handle handle,
                                             Put transfer, Rank peer) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  put<8, 128>(fabric, transfer, peer, Path::staged);
}

extern "C" __global__ void staged_get_kernel(const __grid_constant__ gpu::Handle handle,
                                             Get transfer, Rank peer) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  (void)get<8, 128>(fabric, transfer, peer, Path::staged);
}
