// The exchange of main.cpp, checked instead of run.
#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/check.hpp"

MUSTER_CHECK(neighbours, {.ranks = 3, .calls = 1}) {
  const auto outbox = *team.window<std::int32_t>({1}, "outbox");
  const auto inbox = *team.window<std::int32_t>({1}, "inbox");
  const muster::EpochBarrier barrier(team);
  const auto result = team.lane([&](auto& fabric) {
    fabric.local(outbox)[0] = static_cast<std::int32_t>(fabric.rank().value);
    fabric.put(inbox, muster::right_of(fabric), 0, outbox, 0, 1);
    if (barrier.sync(fabric) != muster::WaitStatus::ok) return;
    const auto left = static_cast<std::int32_t>(muster::left_of(fabric).value);
    expect(fabric.local(inbox)[0] == left, "the left neighbour's number has arrived");
  });
  result.value();
}
