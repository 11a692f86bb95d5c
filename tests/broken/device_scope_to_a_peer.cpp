// A notify to a rank on another GPU, and its wait, in the scope of one device: between two ranks
// that share a GPU that suffices, between two GPUs the deposit need not be seen at all.
//
// The checker must say: scope.
#include "broken.hpp"

namespace muster::broken::device_scope_to_a_peer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  constexpr Scope scope = fixed ? Scope::system : Scope::device;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    fabric.converge();
    fabric.notify(ready, right_of(fabric), 1, NotifyOp::set, Order::release, scope);
    const WaitStatus status = fabric.wait(ready, Compare::ge, 1, Order::acquire, scope);
    if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[0]);
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(device_scope_to_a_peer, scope, .ranks = 2, .calls = 1, .place = "all=gpu,0=gpu0")

}  // namespace muster::broken::device_scope_to_a_peer
