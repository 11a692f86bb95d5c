// An asynchronous put is complete, so its source may be written again: it need not have arrived. A
// third rank is told that it has.
//
// The checker must say: race, on rdma. (On direct a release carries every earlier transfer.)
#include "broken.hpp"

namespace muster::broken::put_completed_not_flushed {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto mine = *team.window<int>({1}, "own");
  const Signal told = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    const Rank writer{0}, owner{1}, reader{fabric.size() - 1};
    if (fabric.rank() == writer) {
      if (fabric.thread() == 0) fabric.local(mine)[0] = 7;
      fabric.converge();
      const auto request = fabric.put_async(inbox, owner, 0, mine, 0, 1);
      status = fabric.complete(request);
      if (fabric.thread() == 0) fabric.local(mine)[0] = 8;
      if (fixed) status = fabric.flush(owner);
      fabric.converge();
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

MUSTER_BROKEN(put_completed_not_flushed, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::put_completed_not_flushed
