// A dissemination barrier (in round k each rank tells the one 2^k to its right) with puts before it
// and no flush. What was put to another rank than the one that is told is carried by nobody.
//
// The checker must say: race, on rdma, with at least 4 ranks. (On direct it is correct.)
#include "broken.hpp"

namespace muster::broken::dissemination_without_flush {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signals rounds = *team.signals(8);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t ranks = fabric.size();
    // To the left neighbour, which this rank does not tell where there are 4.
    send(fabric, inbox, left_of(fabric), 0, 7);
    fabric.converge();
    if (fixed) (void)fabric.flush();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      std::uint32_t round = 0;
      for (std::uint32_t step = 1; step < ranks; step *= 2, ++round) {
        const Rank peer = right_of(fabric, step);
        fabric.notify(rounds[round], peer, 1, NotifyOp::set);
        status = worst(status, fabric.wait(rounds[round], Compare::ge, 1));
      }
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the data");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(dissemination_without_flush, race, .ranks = 4, .calls = 1)

}  // namespace muster::broken::dissemination_without_flush
