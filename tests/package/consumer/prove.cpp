// The exchange of main.cpp, checked instead of run.
#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/check.hpp"

MUSTER_CHECK(neighbours, {.ranks = 3, .calls = 1}) {
  const auto outbox = *team.window<std::int32_t>({1}, "outbox");
  const auto inbox = *team.window<std::int32_t>({1}, "inbox");
  const muster::EpochBarrier barrier(team);
  const auto result = team.lane([&](auto& fabric) {
    const std::uint32_t rank = fabric.rank().value;
    const std::uint32_t size = fabric.size();
    fabric.local(outbox)[0] = static_cast<std::int32_t>(rank);
    fabric.put(inbox, muster::Rank{(rank + 1) % size}, 0, outbox, 0, 1);
    if (barrier.sync(fabric) != muster::WaitStatus::ok) return;
    const auto left = static_cast<std::int32_t>((rank + size - 1) % size);
    expect(fabric.local(inbox)[0] == left, "the left neighbour's number has arrived");
  });
  result.value();
}
