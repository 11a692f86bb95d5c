// A receiver goes on as soon as one of its peers has reported, and cleans the cell by a set for the
// next round. The report of the other is still in flight and lands after the cleaning.
//
// The checker must say: clobber.
#include "broken.hpp"

namespace muster::broken::update_after_cleaning {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Signal reports = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank receiver{0};
    fabric.converge();
    if (fabric.thread() != 0) return WaitStatus::ok;
    if (!(fabric.rank() == receiver)) {
      fabric.notify(reports, receiver, 1, NotifyOp::add);
      return WaitStatus::ok;
    }
    const WaitStatus status = fabric.wait(reports, Compare::ge, fixed ? fabric.size() - 1 : 1);
    if (status == WaitStatus::ok) fabric.notify(reports, receiver, 0, NotifyOp::set);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(update_after_cleaning, clobber, .ranks = 3, .calls = 1)

}  // namespace muster::broken::update_after_cleaning
