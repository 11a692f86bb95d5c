// A broadcast whose receivers load from their own stage, not from the root's: nobody gets what the
// root has.
//
// The checker must say: expect.
#include "broken.hpp"

namespace muster::broken::broadcast_reads_itself {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({1}, "stage");
  const EpochBarrier meeting(team);
  const Rank root{0};
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0)
        fabric.local(stage)[0] = static_cast<int>(100 * fabric.rank().value + call);
      WaitStatus status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
      const int got = fetch(fabric, stage, fixed ? root : fabric.rank(), 0);
      if (fabric.thread() == 0) expect(fabric, got == static_cast<int>(call), "what the root has");
      status = meeting.sync(fabric);  // all have read
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(broadcast_reads_itself, expect, .ranks = 2, .calls = 1)

}  // namespace muster::broken::broadcast_reads_itself
