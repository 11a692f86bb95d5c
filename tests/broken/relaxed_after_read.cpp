// Rank 0 says that it has read its inbox. Rank 1 finds that by `read`, which is a load and no wait,
// and tells the last rank by a relaxed notify, which may so come before what it was told of.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::relaxed_after_read {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows rows = *team.rows();
  const Signals next = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank last{fabric.size() - 1};
    const Signal told = rows.from(fabric.lane(), Rank{0});
    if (fabric.rank() == Rank{0}) {
      expect(fabric, fabric.local(inbox)[0] == 0, "still empty");
      fabric.notify(told, Rank{1}, 1, NotifyOp::set);
    }
    if (fabric.rank() == Rank{1}) {
      const std::uint32_t seen = fabric.read(told);
      if (fixed) fabric.converge();
      fabric.notify(next[0], last, seen + 1, NotifyOp::set, Order::relaxed);
    }
    if (fabric.rank() != last) return WaitStatus::ok;
    const WaitStatus status = fabric.wait(next[0], Compare::ge, 1, Order::relaxed);
    if (status == WaitStatus::ok && fabric.read(next[0]) == 2) send(fabric, inbox, Rank{0}, 0, 7);
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(relaxed_after_read, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::relaxed_after_read
