// A network adapter gives credits by its own atomic add, and the GPU that waits for them takes them
// back by an atomic of the GPU. The adapter's adds are atomic towards each other alone: what it
// gives while the GPU takes back may be lost. Counting on, nobody adds but the adapter.
//
// The checker must say: domain.
#include "broken.hpp"

namespace muster::broken::credits_by_adapter_and_gpu {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({8}, "inbox");
  const Signal credit = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank sender{0};
    const Rank target{1};
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.rank() == sender) {
        send(fabric, inbox, target, call, 7);
        fabric.converge();
        fabric.notify(credit, target, 1, NotifyOp::add);
      } else if (fabric.rank() == target) {
        const WaitStatus status = fabric.wait(credit, Compare::ge, fixed ? call + 1 : 1);
        if (status != WaitStatus::ok) return status;
        (void)static_cast<int>(fabric.local(inbox)[call]);
        if (!fixed) fabric.notify(credit, target, ~0U, NotifyOp::add);
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(credits_by_adapter_and_gpu, domain, .ranks = 2, .calls = 2, .place = "all=gpu,0=nic")

}  // namespace muster::broken::credits_by_adapter_and_gpu
