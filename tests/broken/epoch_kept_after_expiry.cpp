// A barrier that does not advance its epoch when a wait has expired, and is then called again. It
// waits for the old epoch in the new call, and finds the deposits of the old one.
//
// The checker must say: stale pass, where it lets a wait expire.
#include "broken.hpp"

namespace muster::broken::epoch_kept_after_expiry {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Counter counter = rows.epoch(fabric.lane());
    for (std::uint32_t call = 0; call < calls; ++call) {
      (void)barrier_call(fabric, [&] {
        const std::uint32_t epoch = fabric.counter(counter) + 1;
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, epoch, NotifyOp::set);
        });
        WaitStatus status = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, epoch));
        });
        status = fabric.converge(status);
        if (fabric.thread() == 0 && (fixed || status == WaitStatus::ok))
          fabric.set_counter(counter, epoch);
        return fabric.converge(status);
      });
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(epoch_kept_after_expiry, stale_pass, 1, .ranks = 2, .calls = 2)

}  // namespace muster::broken::epoch_kept_after_expiry
