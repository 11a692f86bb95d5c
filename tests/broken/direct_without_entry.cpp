// An all_reduce in place, on windows: each rank reduces its share of everybody's window and stores
// the sum to everybody. Without a meeting first, a fast rank reads a number that its owner has not
// written yet, and stores over it.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::direct_without_entry {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const auto window = *team.window<int>({team.size()}, "window");
  const EpochBarrier meeting(team);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::int64_t me = fabric.rank().value;
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (fabric.thread() == 0)
        for (std::int64_t i = 0; i < window.size(); ++i)
          fabric.local(window)[i] = static_cast<int>(call + 1);
      if (fixed) {
        const WaitStatus status = meeting.sync(fabric);
        if (status != WaitStatus::ok) return status;
      }
      auto sum = fabric.template tile<int, 1, 1>();
      auto theirs = fabric.template tile<int, 1, 1>();
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
        (void)fabric.remote_load(theirs, window, Rank{rank}, Box{0, me, 1, 1});
        sum.combine(theirs, Sum{});
      }
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
        fabric.remote_store(sum, window, Rank{rank}, Box{0, me, 1, 1});
      const WaitStatus status = meeting.sync(fabric);
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(direct_without_entry, race, .ranks = 2, .calls = 2)

}  // namespace muster::broken::direct_without_entry
