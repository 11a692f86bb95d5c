// The threads that produce converge with the whole lane, where they mean their part of it: the
// others are waiting for them, and do not come.
//
// The checker must say: divergence.
#include "broken.hpp"

namespace muster::broken::part_converges_the_lane {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const Signal filled = (*team.signals(1))[0];
  using Half = Threads<2>;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    if (fabric.template in_part<Half>(0)) {
      auto part = fabric.template part<Half>(0);
      part.local(inbox)[part.thread()] = 7;
      if constexpr (fixed)
        part.converge();
      else
        fabric.converge();
      if (part.thread() == 0)
        part.notify(filled, part.rank(), 1, NotifyOp::set, Order::release, Scope::block);
    } else {
      auto part = fabric.template part<Half>(2);
      if (part.thread() == 0)
        status = part.wait(filled, Compare::ge, 1, Order::acquire, Scope::block);
      status = part.converge(status);
      (void)static_cast<int>(part.local(inbox)[1 - part.thread()]);
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(part_converges_the_lane, divergence, .ranks = 2, .calls = 1, .threads = 4)

}  // namespace muster::broken::part_converges_the_lane
