// What check_ptx.sh looks at: a thread's vector of 16 bytes goes out, is polled for and is cleared
// by one access each, relaxed; nothing on the way is a fence. Kernels wait for the one before them,
// and let the next begin.
#undef MUSTER_VERIFY
#define MUSTER_VERIFY 0
#include "muster/collective/sentinel_all_reduce.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/sentinel.hpp"

using namespace muster;

using Sum16 = SentinelAllReduce<bfloat16, 2048>;
using Numbers = WindowRef<bfloat16>;

extern "C" __global__ void __launch_bounds__(256)
    sentinel_kernel(const __grid_constant__ gpu::Handle handle, Sum16 sum, Numbers to,
                    MemoryRef<const bfloat16> from, std::int64_t count) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  (void)sum.run(fabric, to, from, count);
}

using Doubles = SentinelExchange<double, 1, 512, 3>;

extern "C" __global__ void __launch_bounds__(256)
    doubles_kernel(const __grid_constant__ gpu::Handle handle, Doubles exchange,
                   WindowRef<double> data) {
  gpu::Fabric<gpu::Block<256>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  auto tile = fabric.tile<double, 1, 512>();
  fabric.launch_wait();
  fabric.load(tile, data, Box{0, 0, 1, 512});
  const std::uint32_t call = exchange.begin(fabric);
  fabric.replace_sentinel(tile);
  exchange.put(fabric, call, peer, tile);
  exchange.sent(fabric, call);
  const WaitStatus status = exchange.wait(fabric, call, peer, tile);
  fabric.store(tile, data, Box{0, 0, 1, 512});
  (void)exchange.end(fabric, call, status);
}
