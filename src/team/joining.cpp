#include "team/joining.hpp"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <thread>

#include "fabric/host/futex.hpp"
#include "team/setup.hpp"

namespace muster::host {
namespace {

using Clock = std::chrono::steady_clock;

// The first rank that has not come yet.
std::optional<std::uint32_t> missing(const JobHeader& header) {
  for (std::uint32_t rank = 0; rank < header.ranks; ++rank) {
    // Pairs with the release in join: rank 0 comes when it has founded the team.
    const RankState state = header.rank_records[rank].state.load(std::memory_order_acquire);
    if (state == RankState::absent) return rank;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> lost(RankContext& rank) {
  for (std::uint32_t other = 0; other < rank.job->header().ranks; ++other) {
    if (rank.liveness.is_lost(other)) return other;
  }
  return std::nullopt;
}

Result<void> wait_for_all(RankContext& rank) {
  const auto begin = Clock::now();
  auto next_look = begin + std::chrono::milliseconds(50);
  while (const auto absent = missing(rank.job->header())) {
    const auto now = Clock::now();
    if (now >= next_look) {
      next_look = now + std::chrono::milliseconds(100);
      if (const auto dead = lost(rank)) {
        return Error{ErrorCode::peer_lost,
                     fmt::format("rank {} died before the team was complete", *dead),
                     Rank{rank.job_rank},
                     {},
                     Rank{*dead}};
      }
    }
    if (now - begin >= rank.timeout) {
      return Error{ErrorCode::expired,
                   fmt::format("rank {} has not come within {} ms", *absent, rank.timeout.count()),
                   Rank{rank.job_rank},
                   {},
                   Rank{*absent}};
    }
    if (now - begin < std::chrono::milliseconds(2)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }
  return {};
}

Result<void> found_first_team(const Job& job) {
  std::vector<std::uint32_t> everybody(job.header().ranks);
  std::iota(everybody.begin(), everybody.end(), 0U);
  const Result<std::uint32_t> founded = found_team(job, everybody);
  return founded ? Result<void>() : Result<void>(founded.error());
}

}  // namespace

Result<std::shared_ptr<RankContext>> join(std::shared_ptr<const Job> job,
                                          const JoinOptions& options) {
  auto rank = std::make_shared<RankContext>(std::move(job), options.rank);
  rank->processes = options.processes;
  rank->timeout = options.timeout;
  rank->verify = options.verify;
  rank->max_lanes = options.max_lanes;
  rank->job->enlist(options.rank);
  register_for_barriers();
  if (options.rank == 0) {
    if (Result<void> founded = found_first_team(*rank->job); !founded) return founded.error();
  }
  // Pairs with the acquire in missing.
  rank->job->header().rank_records[options.rank].state.store(RankState::joined,
                                                             std::memory_order_release);
  if (Result<void> complete = wait_for_all(*rank); !complete) return complete.error();
  return rank;
}

void leave(RankContext& rank) {
  // Pairs with the acquire in Liveness::is_lost, which looks at it after the process has ended.
  rank.job->header().rank_records[rank.job_rank].state.store(RankState::left,
                                                             std::memory_order_release);
}

}  // namespace muster::host
