// A get_async of the peer's data, then a release notify that it may write there again. A release
// covers no get that is unfinished.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::get_covered_by_release {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto mine = *team.window<int>({1}, "source");
  const auto copies = *team.window<int>({1}, "copies");
  const Rows rows = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    fabric.get_async(copies, 0, mine, right, 0, 1);
    if (fixed) (void)fabric.flush();
    fabric.notify(rows.from(fabric.lane(), fabric.rank()), right, 1, NotifyOp::set);
    const WaitStatus status =
        fabric.wait(rows.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
    if (status == WaitStatus::ok) fabric.local(mine)[0] = 2;
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(get_covered_by_release, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::get_covered_by_release
