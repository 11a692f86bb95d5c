// A notify to a peer, and its wait, in the scope of a block: the peer's threads are in another one,
// which need not see it at all.
//
// The checker must say: scope.
#include "broken.hpp"

namespace muster::broken::block_scope_to_a_peer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  constexpr Scope scope = fixed ? Scope::system : Scope::block;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    fabric.converge();
    fabric.notify(ready, right_of(fabric), 1, NotifyOp::set, Order::release, scope);
    const WaitStatus status = fabric.wait(ready, Compare::ge, 1, Order::acquire, Scope::system);
    if (status == WaitStatus::ok) (void)static_cast<int>(fabric.local(inbox)[0]);
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(block_scope_to_a_peer, scope, .ranks = 2, .calls = 1)

}  // namespace muster::broken::block_scope_to_a_peer
