// A broadcast into one target, called twice: the root does not hear that the first was read.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::broadcast_without_read_complete {
namespace {

// Rank 0 sends to all; `targets` alternate from call to call. The readers may tell the root that
// they have read, and the root may wait for that before it uses a target again.
template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t targets = 1;
  const auto inbox = *team.window<int>({targets}, "inbox");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank root{0};
    const bool is_root = fabric.rank() == root;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const std::int64_t at = call % targets;
      WaitStatus status = WaitStatus::ok;
      if (is_root) {
        if (fixed && call > targets) {
          for_each_peer(fabric, [&](Rank peer) {
            const Signal read = rows.from(fabric.lane(), peer);
            status = worst(status, fabric.wait(read, Compare::ge, call - targets));
          });
        }
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
        for (std::uint32_t p = 1; p < fabric.size(); ++p)
          send(fabric, inbox, Rank{p}, at, static_cast<int>(call));
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.notify(rows.from(fabric.lane(), root), peer, call, NotifyOp::set);
        });
        continue;
      }
      if (fabric.thread() == 0) {
        status = fabric.wait(rows.from(fabric.lane(), root), Compare::ge, call);
        if (status == WaitStatus::ok)
          expect(fabric, fabric.local(inbox)[at] == static_cast<int>(call), "this call's data");
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      // That the reading has ended, and, being a release, that the root's transfer has landed: its
      // next one to the same place is ordered after it.
      if (fixed && fabric.thread() == 0)
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), root, call, NotifyOp::set);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(broadcast_without_read_complete, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::broadcast_without_read_complete
