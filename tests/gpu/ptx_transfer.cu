// What check_ptx.sh looks at: plain memory travels 16 bytes at a time, by pointer and through
// tiles; a get of a window, and a flush, meet without a vote.
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

using Window = WindowRef<float>;

extern "C" __global__ void window_get_kernel(const __grid_constant__ gpu::Handle handle, Window to,
                                             Window from, Rank peer, std::int64_t count) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  if (fabric.get(to, 0, from, peer, 0, count) == WaitStatus::ok) fabric.local(to)[count] = 1;
}

extern "C" __global__ void flush_kernel(const __grid_constant__ gpu::Handle handle, Window to) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  if (fabric.flush() == WaitStatus::ok) fabric.local(to)[0] = 1;
}

extern "C" __global__ void vote_kernel(const __grid_constant__ gpu::Handle handle, Window to,
                                       WaitStatus status) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  if (fabric.converge(status) == WaitStatus::ok) fabric.local(to)[0] = 1;
}
