// Step 2: one program, many ranks, several lanes. Everybody runs the same text; who I am decides
// what I do. Memory is each rank's own, and a window is the part of it that peers can reach.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

inline constexpr std::uint32_t model_lanes = 2;

// What lane `lane` of rank `rank` computes in this example.
[[nodiscard]] constexpr std::int32_t work_of(std::uint32_t rank, std::uint32_t lane) {
  return static_cast<std::int32_t>((rank + 1) * (rank + 1) * 10 + lane);
}

// Returns the results of all ranks and lanes, ranks x lanes; every rank collects them for itself.
template <class Team>
muster::Result<std::vector<std::int32_t>> programming_model(Team& team,
                                                            std::uint32_t lanes = model_lanes) {
  using namespace muster;

  // Set-up is collective: every rank makes the same calls in the same order.
  const auto results = *team.template window<std::int32_t>({lanes});  // on each rank
  const auto collected = *team.template window<std::int32_t>({team.size(), lanes});
  const EpochBarrier barrier(team);  // plain bytes over its own rows of signals

  // Two lanes of this rank run at once (threads here, thread blocks on a GPU). Lane k talks to lane
  // k of the peers, and lanes never share a signal, so they need not know of each other.
  const Result<void> ran = team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::uint32_t lane = fabric.lane().value;

    // The own part of the window is plain memory. Where a lane has several threads, one writes.
    if (fabric.thread() == 0) fabric.local(results)[lane] = work_of(fabric.rank().value, lane);

    // The store above happens before every peer's code behind the barrier: its deposits release
    // what this lane wrote, and its waits acquire what the same lane of the peers wrote.
    if (const WaitStatus met = barrier.sync(fabric); met != WaitStatus::ok) return met;

    // Now fetch what the same lane of every rank has made (the own rank is a peer like any other).
    // What get returns is the lane's status, which never gets better: the last one says it all.
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
      status = fabric.get(collected, collected.at(rank, lane), results, Rank{rank}, lane, 1);
    return status;
  });
  if (!ran) return ran.error();

  // Outside of lanes the results are ordinary values: team.lane ends when all its lanes have.
  std::vector<std::int32_t> values;
  const Result<void> read = team.lane([&](auto& fabric) {
    if (fabric.thread() != 0) return;
    auto view = fabric.local(collected);
    for (std::int64_t i = 0; i < collected.size(); ++i) values.emplace_back(view[i]);
  });
  if (!read) return read.error();
  return values;
}

inline muster::Result<void> check_model(const std::vector<std::int32_t>& values,
                                        std::uint32_t ranks, std::uint32_t lanes = model_lanes) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::int32_t seen = values.at(rank * lanes + lane);
      if (seen != work_of(rank, lane))
        return muster::Error{.code = muster::ErrorCode::mismatch,
                             .what = "lane " + std::to_string(lane) + " of rank " +
                                     std::to_string(rank) + " made " + std::to_string(seen) +
                                     ", expected " + std::to_string(work_of(rank, lane))};
    }
  }
  return {};
}

}  // namespace tutorial
