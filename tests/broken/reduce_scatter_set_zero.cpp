// A reduce_scatter that sets the cells that it has waited for to zero after the last wait of the
// call. Nothing keeps a fast peer out of the next call: its deposit may be there already.
//
// The checker must say: clobber. (Where the deposit is wiped, the next call waits for ever:
// deadlock.)
#include "broken.hpp"

namespace muster::broken::reduce_scatter_set_zero {
namespace {

// Each call has a sum of its own, so that only the cells can go wrong.
template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto sums = *team.window<int>({calls}, "sums");
  const Rows rows = *team.rows();
  team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      for (std::uint32_t p = 0; p < fabric.size(); ++p) {
        if (Rank{p} == fabric.rank()) continue;
        auto part = fabric.template tile<int, 1, 1>();
        part.each([](std::int64_t, std::int64_t, int& value) { value = 1; });
        fabric.remote_add(part, sums, Rank{p}, Box{0, call, 1, 1});
      }
      fabric.converge();
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(mine, peer, 1, NotifyOp::add); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, 1));
      });
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(rows.from(fabric.lane(), peer), fabric.rank(), fixed ? ~0U : 0U,
                      fixed ? NotifyOp::add : NotifyOp::set, Order::relaxed);
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      if (fabric.thread() == 0) (void)static_cast<int>(fabric.local(sums)[call]);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(reduce_scatter_set_zero, clobber, .ranks = 2, .calls = 2)

}  // namespace muster::broken::reduce_scatter_set_zero
