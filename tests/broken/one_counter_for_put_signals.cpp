// Two pieces travel by put_signal and add to one counter; the reader takes the first piece when the
// sum is 1 and the second when it is 2. Each put_signal is a writer of its own: the second may come
// first.
//
// The checker must say: race, on rdma. (On direct they take effect at issue, one after the other.)
#include "broken.hpp"

namespace muster::broken::one_counter_for_put_signals {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const auto mine = *team.window<int>({2}, "source");
  const Signals told = *team.signals(2);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    fabric.converge();
    for (std::uint32_t piece = 0; piece < 2; ++piece)
      fabric.put_signal(inbox, right, piece, mine, piece, 1, told[fixed ? piece : 0], 1,
                        NotifyOp::add);
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t piece = 0; piece < 2 && fabric.thread() == 0; ++piece) {
      const Signal cell = told[fixed ? piece : 0];
      status = worst(status, fabric.wait(cell, Compare::ge, fixed ? 1 : piece + 1));
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[piece] == 0, "the piece");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(one_counter_for_put_signals, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::one_counter_for_put_signals
