// A thread adds to a sum that a peer has begun, after a sibling has waited for the peer: it adds to
// what its own cache holds of the sum, which is the value before. It waits for itself.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::added_to_stale_value {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto sum = *team.window<int>({1}, "sum");
  const Signal begun = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, sum, right_of(fabric), 0, 3);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    const std::uint32_t adds = fixed ? 0 : 1;  // the thread that adds its part
    if (fabric.thread() == 0) {
      fabric.notify(begun, right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(begun, Compare::ge, 1);
    }
    status = fabric.converge(status);
    if (status == WaitStatus::ok && fabric.thread() == adds) fabric.local(sum)[0] += 4;
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(added_to_stale_value, noncoherent, .ranks = 2, .calls = 1, .threads = 2,
              .noncoherent = true)

}  // namespace muster::broken::added_to_stale_value
