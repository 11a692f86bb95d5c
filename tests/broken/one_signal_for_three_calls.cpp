// Three collectives behind each other that share one signal, which grows: each waits until it has
// as many deposits as there are peers, and the second and third find those of the first. Cells of
// its own for each collective, or an epoch that counts the calls, mend it.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::one_signal_for_three_calls {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto stage = *team.window<int>({calls}, "stage");
  const Signals told = *team.signals(1);
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t peers = fabric.size() - 1;
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0) fabric.local(stage)[call] = static_cast<int>(call);
      WaitStatus status = WaitStatus::ok;
      if (fixed) {
        status = meeting.sync(fabric);
      } else {
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(told[0], peer, 1, NotifyOp::add); });
        if (fabric.thread() == 0) status = fabric.wait(told[0], Compare::ge, peers);
        status = fabric.converge(status);
      }
      if (status != WaitStatus::ok) return status;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        (void)fetch(fabric, stage, right_of(fabric, step), call);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(one_signal_for_three_calls, race, .ranks = 3, .calls = 3)

}  // namespace muster::broken::one_signal_for_three_calls
