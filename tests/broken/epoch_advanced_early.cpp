// Thread 0 advances the lane's epoch before its siblings have read it: there is no converge between
// their reading and its writing.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::epoch_advanced_early {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Counter counter = rows.epoch(fabric.lane());
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::uint32_t epoch = fabric.counter(counter) + 1;
      if (!fixed && fabric.thread() == 0) fabric.set_counter(counter, epoch);
      fabric.converge();
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, epoch, NotifyOp::set);
      });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, epoch));
      });
      if (fixed && fabric.thread() == 0) fabric.set_counter(counter, epoch);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(epoch_advanced_early, race, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::epoch_advanced_early
