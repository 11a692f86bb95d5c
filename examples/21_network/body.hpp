// Step 21: the same body on one host or on many. Each rank gives its right neighbour a row of
// numbers, and all add up what they got.
//
// A network has no address() of a peer's memory, so nothing here asks for one; and its `put` may
// arrive behind a deposit to another rank, so each deposit goes to whom the put went to.
#pragma once

#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

inline constexpr std::int64_t row_length = 1000;

// Returns the sum of all rows that were given, the same on every rank.
template <class Team>
muster::Result<std::int64_t> rows_around(Team& team) {
  using namespace muster;
  const auto outbox = *team.template window<std::int64_t>({row_length});
  const auto inbox = *team.template window<std::int64_t>({row_length});
  const auto sums = *team.template window<std::int64_t>({team.size()});
  const Signals arrived = *team.signals(1);
  const EpochBarrier barrier(team);

  std::int64_t total = 0;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    const auto rank = static_cast<std::int64_t>(fabric.rank().value);
    for (std::int64_t i = 0; i < row_length; ++i) fabric.local(outbox)[i] = rank + i;
    // The deposit carries the put before it, for both go to the same rank.
    fabric.put(inbox, right_of(fabric), 0, outbox, 0, row_length);
    fabric.notify(arrived[0], right_of(fabric), 1, NotifyOp::set);
    WaitStatus status = fabric.wait(arrived[0], Compare::eq, 1);
    if (status != WaitStatus::ok) return status;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < row_length; ++i) sum += fabric.local(inbox)[i];

    // Everybody tells everybody: a barrier carries what was put before it.
    fabric.local(sums)[rank] = sum;
    for_each_peer(fabric, [&](Rank peer) { fabric.put(sums, peer, rank, sums, rank, 1); });
    status = barrier.sync(fabric);
    if (status != WaitStatus::ok) return status;
    for (std::int64_t i = 0; i < sums.size(); ++i) total += fabric.local(sums)[i];
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return total;
}

[[nodiscard]] constexpr std::int64_t golden_rows(std::uint32_t ranks) {
  const std::int64_t of_ranks = std::int64_t{ranks} * (ranks - 1) / 2;
  return row_length * of_ranks + std::int64_t{ranks} * (row_length * (row_length - 1) / 2);
}

}  // namespace tutorial
