// One thread of a lane waits, which invalidates its cache; then the lane meets, and another thread
// reads. Where each thread is a core with a cache of its own, and caches are not coherent, that
// thread may read what it has fetched before. Each thread that reads waits for itself.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::read_without_own_acquire {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, inbox, right_of(fabric), 0, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) fabric.notify(ready, right_of(fabric), 1, NotifyOp::set);
    if (fabric.thread() == 0 || fixed) status = fabric.wait(ready, Compare::ge, 1);
    status = fabric.converge(status);
    if (status == WaitStatus::ok && fabric.thread() == 1)
      expect(fabric, fabric.local(inbox)[0] == 7, "the number is there");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(read_without_own_acquire, noncoherent, .ranks = 2, .calls = 1, .threads = 2,
              .noncoherent = true)

}  // namespace muster::broken::read_without_own_acquire
