// A wait that has expired is taken for one that succeeded: what it waited for is read all the same.
//
// The checker must say: race, where it lets a wait expire.
#include "broken.hpp"

namespace muster::broken::expired_taken_for_success {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
      if (!fixed || status == WaitStatus::ok)
        expect(fabric, fabric.local(inbox)[0] == 7, "the data");
    }
    return fabric.converge(fixed ? status : WaitStatus::ok);
  });
}

}  // namespace

MUSTER_BROKEN_EXPIRING(expired_taken_for_success, race, 1, .ranks = 2, .calls = 1)

}  // namespace muster::broken::expired_taken_for_success
