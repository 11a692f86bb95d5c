// Each thread of the lane writes its share, and thread 0 notifies, without a converge in between:
// it speaks for its own share alone.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::notify_without_converge {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto window = *team.window<int>({2}, "data");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t i = fabric.thread(); i < 2; i += fabric.threads())
      fabric.local(window)[i] = 7;
    if (fixed) fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), right_of(fabric), 1, NotifyOp::set);
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), left_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(rows.from(fabric.lane(), right_of(fabric)), Compare::ge, 1);
    }
    if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    for (std::int64_t i = 0; i < 2; ++i) {
      const int seen = fetch(fabric, window, right_of(fabric), i);
      if (fabric.thread() == 0) expect(fabric, seen == 7, "the neighbour's share");
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(notify_without_converge, race, .ranks = 2, .calls = 1, .threads = 2)

}  // namespace muster::broken::notify_without_converge
