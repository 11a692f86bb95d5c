// Each thread of a lane writes its element, the lane meets, and one thread releases for all. Where
// each thread is a core with a cache of its own, and caches are not coherent, that writes back what
// the one has written: the others' elements are still in their caches. Each releases for itself.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::write_without_own_release {
namespace {

constexpr std::uint32_t line = 16;  // elements in a line of a cache

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto outbox = *team.window<int>({2 * line}, "outbox");
  const Signal written = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const bool writes = fabric.rank() == Rank(0);
    if (writes) fabric.local(outbox)[line * fabric.thread()] = 7;
    fabric.converge();
    if (writes && (fixed || fabric.thread() == 0))
      fabric.notify(written, Rank(1), fixed ? 1 : fabric.threads(), NotifyOp::add);
    if (fabric.rank() != Rank(1)) return WaitStatus::ok;
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) status = fabric.wait(written, Compare::ge, fabric.threads());
    status = fabric.converge(status);
    if (status != WaitStatus::ok) return status;
    const int one = fetch(fabric, outbox, Rank(0), 0);
    const int other = fetch(fabric, outbox, Rank(0), line);
    if (fabric.thread() == 0) expect(fabric, one + other == 14, "what both threads have written");
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(write_without_own_release, noncoherent, .ranks = 2, .calls = 1, .threads = 2,
              .noncoherent = true)

}  // namespace muster::broken::write_without_own_release
