// Two barrier objects (of two teams, say) share one row of credits. A credit that a peer gives for
// the second lets a rank pass the first.
//
// The checker must say: stale pass.
#include "broken.hpp"

namespace muster::broken::two_barriers_on_one_row {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  const Rows others = fixed ? *team.rows() : rows;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    // One peer uses the barriers in the other order.
    const bool swapped = fabric.rank().value == 0;
    for (std::uint32_t call = 0; call < calls; ++call) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        const bool second = (i == 1) != (swapped && !fixed);
        const CreditBarrier barrier(second ? others : rows);
        const WaitStatus status = barrier_call(
            fabric, [&] { return barrier.sync(fabric); }, second ? 1 : 0);
        if (status != WaitStatus::ok) return status;
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(two_barriers_on_one_row, stale_pass, .ranks = 2, .calls = 1)

}  // namespace muster::broken::two_barriers_on_one_row
