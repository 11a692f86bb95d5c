// Counts that travel first: each rank writes to its right how many elements come, then those, and
// tells it. The receiver answers when it has read them, so that the next call may overwrite both.
// Where the count is 0 there is nothing to read, and nobody answers or waits: a fast rank's next
// count meets a slow reader of the last one. A count is data, too, on every call.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::zero_count_unanswered {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto coming = *team.window<int>({1}, "coming");
  const auto inbox = *team.window<int>({1}, "inbox");
  const Rows sent = *team.rows();
  const Rows read = *team.rows();
  const auto count_of = [](std::uint32_t call) { return static_cast<int>((call + 1) % 2); };
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Rank left = left_of(fabric);
    std::uint32_t answers = 0;  // that this rank has to wait for
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0)
        status = fabric.wait(read.from(fabric.lane(), right), Compare::ge, answers);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      send(fabric, coming, right, 0, count_of(call));
      if (count_of(call) > 0) send(fabric, inbox, right, 0, static_cast<int>(call));
      fabric.converge();
      if (fixed || count_of(call) > 0) answers = call;
      if (fabric.thread() == 0) {
        fabric.notify(sent.from(fabric.lane(), fabric.rank()), right, call, NotifyOp::set);
        status = fabric.wait(sent.from(fabric.lane(), left), Compare::ge, call);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      const int count = fetch(fabric, coming, fabric.rank(), 0);
      if (count > 0) (void)fetch(fabric, inbox, fabric.rank(), 0);
      fabric.converge();
      if (fabric.thread() == 0 && (fixed || count_of(call) > 0))
        fabric.notify(read.from(fabric.lane(), fabric.rank()), left, call, NotifyOp::set);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(zero_count_unanswered, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::zero_count_unanswered
