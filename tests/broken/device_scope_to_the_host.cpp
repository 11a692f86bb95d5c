// A kernel tells a thread of its own rank that runs on the host, in the scope of its device: that
// reaches the lanes of the GPU, and the host is not on it.
//
// The checker must say: scope.
#include "broken.hpp"

namespace muster::broken::device_scope_to_the_host {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t lanes) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  constexpr Scope scope = fixed ? Scope::system : Scope::device;
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    if (fabric.lane() == Lane(0)) {
      fabric.local(inbox)[0] = 7;
      fabric.converge();
      fabric.notify(ready, fabric.rank(), 1, NotifyOp::set, Order::release, scope);
      return WaitStatus::ok;
    }
    const WaitStatus status = fabric.wait(ready, Compare::ge, 1, Order::acquire, Scope::system);
    if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the kernel's");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(device_scope_to_the_host, scope, .ranks = 2, .calls = 1, .lanes = 2,
              .place = "all=gpu,all.1=host")

}  // namespace muster::broken::device_scope_to_the_host
