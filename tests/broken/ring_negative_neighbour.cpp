// An all_reduce round a ring. The left neighbour is written (me - 1) % P: for rank 0 that is
// 2^32 - 1 modulo P, which is P-1 only where P is a power of two. With three ranks, 0 and 1 both
// tell rank 0, and nobody tells rank 2.
//
// The checker must say: clobber.
#include "broken.hpp"

namespace muster::broken::ring_negative_neighbour {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals told = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t me = fabric.rank().value;
    const std::uint32_t ranks = fabric.size();
    const Rank left{fixed ? (me + ranks - 1) % ranks : (me - 1) % ranks};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(told[0], left, call, NotifyOp::set);
        status = fabric.wait(told[0], Compare::ge, call);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_negative_neighbour, clobber, .ranks = 3, .calls = 1)

}  // namespace muster::broken::ring_negative_neighbour
