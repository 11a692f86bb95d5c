// The source of a put_async is written again after the peer's acknowledgement. That does without a
// flush if the peer has acquired the notify that came with the data before it answers; this one
// answers first.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::source_reused_early_answer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto mine = *team.window<int>({1}, "source");
  const Rows rows = *team.rows();
  const Rows answers = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Rank left = left_of(fabric);
    const auto answer = [&] {
      fabric.notify(answers.from(fabric.lane(), fabric.rank()), left, 1, NotifyOp::set);
    };
    fabric.local(mine)[0] = 1;
    fabric.put_async(inbox, right, 0, mine, 0, 1);
    fabric.notify(rows.from(fabric.lane(), fabric.rank()), right, 1, NotifyOp::set);
    if (!fixed) answer();
    WaitStatus status = fabric.wait(rows.from(fabric.lane(), left), Compare::ge, 1);
    if (fixed) answer();
    status = worst(status, fabric.wait(answers.from(fabric.lane(), right), Compare::ge, 1));
    if (status == WaitStatus::ok) fabric.local(mine)[0] = 2;
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(source_reused_early_answer, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::source_reused_early_answer
