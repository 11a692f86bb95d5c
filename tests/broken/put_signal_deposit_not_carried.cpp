// A put_signal, then a release notify to the same rank. That carries the payload, for a put_signal
// is a put; it does not carry the put_signal's own deposit, which the receiver overwrites here.
//
// The checker must say: clobber, on rdma. (On direct the put_signal takes effect at issue.)
#include "broken.hpp"

namespace muster::broken::put_signal_deposit_not_carried {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto mine = *team.window<int>({1}, "source");
  const Rows with = *team.rows();
  const Rows after = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Signal theirs = with.from(fabric.lane(), left_of(fabric));
    fabric.local(mine)[0] = 7;
    fabric.put_signal(inbox, right, 0, mine, 0, 1, with.from(fabric.lane(), fabric.rank()), 1,
                      NotifyOp::set);
    fabric.notify(after.from(fabric.lane(), fabric.rank()), right, 1, NotifyOp::set);
    WaitStatus status = fabric.wait(after.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
    if (status != WaitStatus::ok) return status;
    expect(fabric, fabric.local(inbox)[0] == 7, "the payload");
    if (fixed) status = fabric.wait(theirs, Compare::ge, 1, Order::relaxed);
    fabric.notify(theirs, fabric.rank(), 0, NotifyOp::set, Order::relaxed);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(put_signal_deposit_not_carried, clobber, .ranks = 2, .calls = 1)

}  // namespace muster::broken::put_signal_deposit_not_carried
