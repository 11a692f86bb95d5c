// A rank puts to its right neighbour and tells its left one, which tells the right one. The release
// to the left carries what was put to the left, and nothing that was put elsewhere.
//
// The checker must say: race, on rdma. (On direct a release carries every earlier transfer.)
#include "broken.hpp"

namespace muster::broken::put_to_third_rank {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal first = (*team.signals(2))[0];
  const Signal second{first.segment, first.cell + 1};
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus status = WaitStatus::ok;
    const Rank writer{0}, reader{1}, teller{fabric.size() - 1};
    if (fabric.rank() == writer) {
      send(fabric, inbox, reader, 0, 7);
      if (fixed) (void)fabric.flush();
      fabric.converge();
      if (fabric.thread() == 0) fabric.notify(first, teller, 1, NotifyOp::set);
    }
    if (fabric.rank() == teller && fabric.thread() == 0) {
      status = fabric.wait(first, Compare::ge, 1);
      if (status == WaitStatus::ok) fabric.notify(second, reader, 1, NotifyOp::set);
    }
    if (fabric.rank() == reader && fabric.thread() == 0) {
      status = fabric.wait(second, Compare::ge, 1);
      if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[0] == 7, "the data");
    }
    return fabric.converge(status);
  });
}

}  // namespace

MUSTER_BROKEN(put_to_third_rank, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::put_to_third_rank
