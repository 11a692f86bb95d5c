// Half of a lane's threads bring data into the lane's memory, and say so by a signal between the
// parts; the others read it without waiting for that. The converge of their part does not do: the
// threads that wrote are not in it.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::part_without_wait {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({2}, "inbox");
  const Signals cells = *team.signals(2);
  const Signal filled = cells[0];
  const Signal emptied = cells[1];
  using Half = Threads<2>;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    if (fabric.template in_part<Half>(0)) {
      auto part = fabric.template part<Half>(0);
      for (std::uint32_t call = 1; call <= calls && status == WaitStatus::ok; ++call) {
        if (part.thread() == 0)
          status = part.wait(emptied, Compare::ge, call - 1, Order::acquire, Scope::block);
        status = part.converge(status);
        part.local(inbox)[part.thread()] = static_cast<int>(call);
        part.converge();
        if (part.thread() == 0)
          part.notify(filled, part.rank(), call, NotifyOp::set, Order::release, Scope::block);
      }
    } else {
      auto part = fabric.template part<Half>(2);
      for (std::uint32_t call = 1; call <= calls && status == WaitStatus::ok; ++call) {
        if (part.thread() == 0 && fixed)
          status = part.wait(filled, Compare::ge, call, Order::acquire, Scope::block);
        status = part.converge(status);
        (void)static_cast<int>(part.local(inbox)[1 - part.thread()]);
        part.converge();
        if (part.thread() == 0)
          part.notify(emptied, part.rank(), call, NotifyOp::set, Order::release, Scope::block);
      }
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(part_without_wait, race, .ranks = 2, .calls = 2, .threads = 4)

}  // namespace muster::broken::part_without_wait
