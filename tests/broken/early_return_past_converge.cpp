// A thread whose wait has failed returns at once; its sibling stands at the converge for ever. The
// rule: leave the loop, but still reach every converge. (Here the rank that has no peer to wait for
// stands for the failed wait.)
//
// The checker must say: divergence.
#include "broken.hpp"

namespace muster::broken::early_return_past_converge {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
      const bool failed = fabric.rank().value == 0;
      if (failed && !fixed) return WaitStatus::aborted;
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(early_return_past_converge, divergence, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::early_return_past_converge
