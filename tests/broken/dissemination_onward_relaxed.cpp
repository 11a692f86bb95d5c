// A dissemination barrier at the head of a kernel, for what earlier kernels have written: all its
// notifies are relaxed, and the waits acquire. A relaxed notify speaks for its own rank's earlier
// kernels. What it has just heard of others it carries on only where it releases, which all rounds
// after the first must.
//
// The checker must say: race, with at least 4 ranks.
#include "broken.hpp"

namespace muster::broken::dissemination_onward_relaxed {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto outbox = *team.window<int>({1}, "outbox");
  const Signals rounds = *team.signals(8);
  (void)team.lane([&](auto& fabric) {
    if (fabric.thread() == 0) fabric.local(outbox)[0] = 7;
  });
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      std::uint32_t round = 0;
      for (std::uint32_t step = 1; step < fabric.size(); step *= 2, ++round) {
        const Order order = fixed && round > 0 ? Order::release : Order::relaxed;
        fabric.notify(rounds[round], right_of(fabric, step), 1, NotifyOp::set, order);
        status = worst(status, fabric.wait(rounds[round], Compare::ge, 1));
      }
    }
    if (fabric.converge(status) != WaitStatus::ok) return status;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const int seen = fetch(fabric, outbox, right_of(fabric, step), 0);
      if (fabric.thread() == 0) expect(fabric, seen == 7, "what the kernel before has written");
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(dissemination_onward_relaxed, race, .ranks = 4, .calls = 1)

}  // namespace muster::broken::dissemination_onward_relaxed
