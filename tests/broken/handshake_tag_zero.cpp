// A handshake whose tags are numbered from 0. The cell is 0 before anybody writes it, so the
// receiver, which waits for it to change, waits for ever for the first tag.
//
// The checker must say: deadlock.
#include "broken.hpp"

namespace muster::broken::handshake_tag_zero {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    std::uint32_t last = 0;  // what the cell held before this call
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::uint32_t tag = fixed ? call + 1 : call;
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), tag,
                      NotifyOp::set);
        status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::gt, last);
      }
      last = tag;
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(handshake_tag_zero, deadlock, .ranks = 2, .calls = 1)

}  // namespace muster::broken::handshake_tag_zero
