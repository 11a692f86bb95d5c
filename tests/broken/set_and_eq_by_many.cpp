// One cell per rank that every peer sets to the call's number, awaited with eq. The sets of two
// peers are unordered: nobody knows whose is there, or whether all have come.
//
// The checker must say: clobber.
#include "broken.hpp"

namespace muster::broken::set_and_eq_by_many {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      fabric.converge();
      const Rank writer = fixed ? fabric.rank() : Rank{0};
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(rows.from(fabric.lane(), writer), peer, call, NotifyOp::set);
      });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        const Signal cell = rows.from(fabric.lane(), fixed ? peer : Rank{0});
        status = worst(status, fabric.wait(cell, fixed ? Compare::ge : Compare::eq, call));
      });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(set_and_eq_by_many, clobber, .ranks = 3, .calls = 1)

}  // namespace muster::broken::set_and_eq_by_many
