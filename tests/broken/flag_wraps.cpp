// Packets whose flag counts 1, 2, 1, 2 in two slots that are never cleared: with the third packet
// the flag is the one that the first has left there, and the reader takes the old packet while the
// new one lands.
//
// The checker must say: race, with at least 3 calls.
#include "broken.hpp"

namespace muster::broken::flag_wraps {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t slots = 2;
  const auto slot = *team.window<int>({slots}, "slots");
  const auto mine = *team.window<int>({1}, "source");
  const Signals flags = *team.signals(slots);
  const Signal read = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const std::uint32_t at = call % slots;
      const std::uint32_t flag = fixed ? call : 1 + call % 2;
      WaitStatus status = WaitStatus::ok;
      if (call > slots && fabric.thread() == 0)
        status = fabric.wait(read, Compare::ge, call - slots);
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      fabric.put_signal(slot, right_of(fabric), at, mine, 0, 1, flags[at], flag, NotifyOp::set);
      if (fabric.thread() == 0) {
        status = fabric.wait(flags[at], Compare::eq, flag);
        if (status == WaitStatus::ok) expect(fabric, fabric.local(slot)[at] == 0, "the packet");
        fabric.notify(read, left_of(fabric), call, NotifyOp::set);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(flag_wraps, race, .ranks = 2, .calls = 3)

}  // namespace muster::broken::flag_wraps
