// Ranks on GPUs and one on the host add their parts to one element of rank 0's window. Each add is
// atomic towards those of its own side alone. An element for each side holds both sums.
//
// The checker must say: domain.
#include "broken.hpp"

namespace muster::broken::sum_from_host_and_gpu {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto sums = *team.window<int>({2}, "sums");
  const Rows told = *team.rows();
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const bool on_host = fabric.rank() == Rank(1);
    auto part = fabric.template tile<int, 1, 1>();
    part.each([&](std::int64_t, std::int64_t, int& value) { value = 3; });
    fabric.remote_add(part, sums, Rank(0), Box{0, fixed && on_host ? 1 : 0, 1, 1});
    fabric.converge();
    if (fabric.rank() != Rank(0)) {
      fabric.notify(told.from(fabric.lane(), fabric.rank()), Rank(0), 1, NotifyOp::set);
      return WaitStatus::ok;
    }
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.wait(told.from(fabric.lane(), peer), Compare::ge, 1));
    });
    const int sum = fabric.local(sums)[0];
    const int other = fabric.local(sums)[1];
    expect(fabric, sum + other == 3 * static_cast<int>(fabric.size()), "the sum of all parts");
    return status;
  });
}

}  // namespace

MUSTER_BROKEN(sum_from_host_and_gpu, domain, .ranks = 2, .calls = 1, .place = "all=gpu,1=host")

}  // namespace muster::broken::sum_from_host_and_gpu
