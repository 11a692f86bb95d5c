// Each rank writes its own element of a window, and puts one beside it into its neighbour's. The
// two lie in one line of a cache: where caches are not coherent the line is written back as a
// whole, and what the neighbour has put meanwhile is again what it was before. The elements lie in
// lines of their own.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::line_shared_with_a_peer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  constexpr std::int64_t line = 16;  // elements in a line of a cache
  constexpr std::int64_t theirs = fixed ? line : 1;
  const auto cells = *team.window<int>({2 * line}, "cells");
  const Signal ready = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    if (fabric.thread() == 0) fabric.local(cells)[0] = 5;
    send(fabric, cells, right_of(fabric), theirs, 7);
    fabric.converge();
    fabric.notify(ready, right_of(fabric), 1, NotifyOp::set);
    const WaitStatus status = fabric.wait(ready, Compare::ge, 1);
    if (status == WaitStatus::ok)
      expect(fabric, fabric.local(cells)[theirs] == 7, "what the neighbour has put");
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(line_shared_with_a_peer, noncoherent, .ranks = 2, .calls = 1, .noncoherent = true)

}  // namespace muster::broken::line_shared_with_a_peer
