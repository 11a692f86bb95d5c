// Rank 0 sets a cell of the last rank and tells rank 1, which sets that cell on. A notify to a
// third rank is not carried: a flush completes it, as it completes transfers.
//
// The checker must say: clobber, on rdma. (On direct notifies take effect at issue.)
#include "broken.hpp"

namespace muster::broken::notify_to_third_rank {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Signals step = *team.signals(1);
  const Signals told = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank last{fabric.size() - 1};
    WaitStatus status = WaitStatus::ok;
    if (fabric.rank() == Rank{0}) {
      fabric.notify(step[0], last, 1, NotifyOp::set);
      if (fixed) (void)fabric.flush();
      fabric.notify(told[0], Rank{1}, 1, NotifyOp::set);
    }
    if (fabric.rank() == Rank{1}) {
      status = fabric.wait(told[0], Compare::ge, 1);
      fabric.notify(step[0], last, 2, NotifyOp::set);
    }
    if (fabric.rank() == last) status = worst(status, fabric.wait(step[0], Compare::ge, 2));
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(notify_to_third_rank, clobber, .ranks = 3, .calls = 1)

}  // namespace muster::broken::notify_to_third_rank
