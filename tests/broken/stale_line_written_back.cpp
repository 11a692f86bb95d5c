// A peer writes one element and says so to thread 0 of the lane; then thread 1 writes another one
// of the same line. Its cache may have fetched the line before the peer wrote, and writes back what
// it has fetched: the peer's element is gone. The thread that heard of the peer writes.
//
// The checker must say: noncoherent.
#include "broken.hpp"

namespace muster::broken::stale_line_written_back {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto cells = *team.window<int>({2}, "cells");
  const Signal ready = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    send(fabric, cells, right_of(fabric), 0, 7);
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(ready, right_of(fabric), 1, NotifyOp::set);
      status = fabric.wait(ready, Compare::ge, 1);
    }
    status = fabric.converge(status);
    if (status == WaitStatus::ok && fabric.thread() == (fixed ? 0 : 1)) fabric.local(cells)[1] = 5;
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(stale_line_written_back, noncoherent, .ranks = 2, .calls = 1, .threads = 2,
              .noncoherent = true)

}  // namespace muster::broken::stale_line_written_back
