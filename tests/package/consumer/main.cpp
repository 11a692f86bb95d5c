// Each rank puts its number into its right neighbour's window, and finds its left neighbour's.
#include <cstdio>

#include "muster/muster.hpp"

int main() {
  return muster::run({.ranks = 3}, [](muster::Team& team) {
    auto inbox = *team.window<std::int32_t>({1});
    const muster::EpochBarrier barrier(team);
    std::int32_t seen = -1;
    const auto result = team.lane([&](auto& fabric) {
      const muster::Rank right = muster::right_of(fabric);
      fabric.address(inbox, right)[0] = static_cast<std::int32_t>(fabric.rank().value);
      const muster::WaitStatus status = barrier.sync(fabric);
      if (status == muster::WaitStatus::ok) seen = fabric.local(inbox)[0];
      return status;
    });
    result.value();
    const auto left =
        static_cast<std::int32_t>((team.rank().value + team.size() - 1) % team.size());
    std::printf("rank %u of %u: %s\n", team.rank().value, team.size(),
                seen == left ? "OK" : "WRONG");
    return seen == left ? 0 : 1;
  });
}
