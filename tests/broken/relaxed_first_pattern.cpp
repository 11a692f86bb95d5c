// A kernel that begins with a barrier, so that it may read what earlier kernels of its peers have
// written; the barrier's notify and its wait are relaxed. The end of the earlier kernels has
// released what they wrote, so the notify may be; but what is read behind a relaxed wait may have
// been read before it. The first pattern of PyTorch's blockwise barrier in Triton: docs/pytorch.md.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::relaxed_first_pattern {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto data = *team.window<int>({calls}, "data");
  const EpochBarrier barrier(team);
  for (std::uint32_t call = 0; call < calls; ++call) {
    (void)team.lane([&](auto& fabric) {
      if (fabric.thread() == 0) fabric.local(data)[call] = 7;
    });
    (void)team.lane([&](auto& fabric) {
      const BarrierUse relaxed{Order::relaxed, Order::relaxed};
      if (barrier.sync(fabric, fixed ? use::entry : relaxed) == WaitStatus::ok)
        (void)fetch(fabric, data, right_of(fabric), call);
    });
  }
}

}  // namespace

MUSTER_BROKEN(relaxed_first_pattern, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::relaxed_first_pattern
