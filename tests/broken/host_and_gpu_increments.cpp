// Kernels of several GPUs and a thread of the host count in one cell. Where the link between them
// carries no atomics, the host reads, the GPU adds, and the host writes what it has read and one:
// one of the two is lost, and the count is never reached. A cell for each side counts both.
//
// The checker must say: domain.
#include "broken.hpp"

namespace muster::broken::host_and_gpu_increments {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals arrived = *team.signals(2);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const bool on_host = fabric.rank() == Rank(0);
    const Signal by_gpus = arrived[0];
    const Signal by_host = fixed ? arrived[1] : by_gpus;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const auto meet = [&] {
        for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
          fabric.notify(on_host ? by_host : by_gpus, Rank(peer), 1, NotifyOp::add);
        const std::uint32_t gpus = call * (fabric.size() - 1);
        if constexpr (!fixed) return fabric.wait(by_gpus, Compare::ge, gpus + call);
        return worst(fabric.wait(by_gpus, Compare::ge, gpus),
                     fabric.wait(by_host, Compare::ge, call));
      };
      if (barrier_call(fabric, meet) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(host_and_gpu_increments, domain, .ranks = 2, .calls = 2, .place = "all=gpu,0=host")

}  // namespace muster::broken::host_and_gpu_increments
