// A rank puts to its right neighbour, flushes what it has sent to its left one, and tells that one
// that the data is there.
//
// The checker must say: race, on rdma. (On direct a release carries every earlier transfer.)
#include "broken.hpp"

namespace muster::broken::flush_of_another_peer {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal told = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    const Rank writer{0}, owner{1}, reader{fabric.size() - 1};
    if (fabric.rank() == writer) {
      send(fabric, inbox, owner, 0, 7);
      status = fabric.flush(fixed ? owner : reader);
      if (fabric.thread() == 0) fabric.notify(told, reader, 1, NotifyOp::set);
    }
    if (fabric.rank() == reader) {
      if (fabric.thread() == 0) status = fabric.wait(told, Compare::ge, 1);
      status = fabric.converge(status);
      if (status != WaitStatus::ok) return status;
      const int seen = fetch(fabric, inbox, owner, 0);
      if (fabric.thread() == 0) expect(fabric, seen == 7, "the data");
    }
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(flush_of_another_peer, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::flush_of_another_peer
