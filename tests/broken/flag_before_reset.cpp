// A central barrier: everybody adds to a counter at rank 0, which publishes a flag and then resets
// the counter by a set. Whoever has seen the flag adds for the next call, unordered with the reset.
//
// The checker must say: clobber. (Where the reset wipes an arrival, the next call never ends:
// deadlock.)
#include "broken.hpp"

namespace muster::broken::flag_before_reset {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const Signals cells = *team.signals(2);
  const Signal count = cells[0], flag = cells[1];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank centre{0};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const WaitStatus status = barrier_call(fabric, [&] {
        fabric.converge();
        WaitStatus one = WaitStatus::ok;
        if (fabric.thread() == 0 && fabric.rank() == centre) {
          one = fabric.wait(count, Compare::ge, fabric.size() - 1);
          const auto reset = [&] { fabric.notify(count, centre, 0, NotifyOp::set); };
          if (fixed) reset();
          for (std::uint32_t p = 1; p < fabric.size(); ++p)
            fabric.notify(flag, Rank{p}, call, NotifyOp::set);
          if (!fixed) reset();
        } else if (fabric.thread() == 0) {
          fabric.notify(count, centre, 1, NotifyOp::add);
          one = fabric.wait(flag, Compare::ge, call);
        }
        return fabric.converge(one);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(flag_before_reset, clobber, .ranks = 2, .calls = 2)

}  // namespace muster::broken::flag_before_reset
