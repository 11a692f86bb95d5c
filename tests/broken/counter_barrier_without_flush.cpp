// A barrier on one counter for each rank, with puts before it and no flush. In the second call a
// fast peer's deposit stands in for a slow one's, and a fast peer's release does not carry what the
// slow one has put here.
//
// The checker must say: race, on rdma, with at least 3 ranks and 2 calls. (On direct it is
// correct.)
#include "broken.hpp"

namespace muster::broken::counter_barrier_without_flush {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");  // alternates from call to call
  const Signal cell = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      send(fabric, inbox, right_of(fabric), call % 2, static_cast<int>(call));
      fabric.converge();
      if (fixed) (void)fabric.flush();
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(cell, peer, 1, NotifyOp::add); });
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        status = fabric.wait(cell, Compare::ge, call * (fabric.size() - 1));
        if (status == WaitStatus::ok)
          expect(fabric, fabric.local(inbox)[call % 2] == static_cast<int>(call),
                 "this call's data");
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(counter_barrier_without_flush, race, .ranks = 3, .calls = 2)

}  // namespace muster::broken::counter_barrier_without_flush
