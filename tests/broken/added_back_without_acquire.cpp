// A waiter whose wait is relaxed takes back what it has waited for. Where caches are not coherent
// the add goes through its cache, which nothing has invalidated since the last call: it starts from
// the value of then, and wipes the deposit that it has just seen. A wait that acquires invalidates.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::added_back_without_acquire {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  constexpr Order order = fixed ? Order::acquire : Order::relaxed;
  team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const auto meet = [&] {
        const Signal mine = rows.from(fabric.lane(), fabric.rank());
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
        WaitStatus status = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          const Signal theirs = rows.from(fabric.lane(), peer);
          status = worst(status, fabric.wait(theirs, Compare::ge, 1, order));
          fabric.notify(theirs, fabric.rank(), ~0U, NotifyOp::add, Order::relaxed);
        });
        return status;
      };
      if (barrier_call(fabric, meet) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(added_back_without_acquire, noncoherent, .ranks = 2, .calls = 2, .noncoherent = true)

}  // namespace muster::broken::added_back_without_acquire
