// A dissemination barrier that makes its later rounds though the wait of an earlier one has
// expired. The deposit of round k speaks for 2^k ranks, of which it has not heard from all.
//
// The checker must say: stale pass, where it lets a wait expire, with at least 4 ranks.
#include "broken.hpp"

namespace muster::broken::dissemination_goes_on_after_expiry {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Signals rounds = *team.signals(8);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    return barrier_call(fabric, [&] {
      WaitStatus status = WaitStatus::ok;
      std::uint32_t round = 0;
      for (std::uint32_t step = 1; step < fabric.size(); step *= 2, ++round) {
        fabric.notify(rounds[round], right_of(fabric, step), 1, NotifyOp::set);
        status = worst(status, fabric.wait(rounds[round], Compare::ge, 1));
        if (fixed && status != WaitStatus::ok) break;
      }
      return status;
    });
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(dissemination_goes_on_after_expiry, stale_pass, 1, .ranks = 4, .calls = 1)

}  // namespace muster::broken::dissemination_goes_on_after_expiry
