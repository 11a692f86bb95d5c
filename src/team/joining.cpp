#include "team/joining.hpp"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <string>
#include <thread>

#include "base/step.hpp"
#include "fabric/host/futex.hpp"
#include "team/setup.hpp"

namespace muster::host {
namespace {

using Clock = std::chrono::steady_clock;

// The first rank for which `is_so`.
template <class IsSo>
std::optional<std::uint32_t> first_rank(const RankContext& rank, IsSo is_so) {
  for (std::uint32_t other = 0; other < rank.job->header().ranks; ++other) {
    if (is_so(other)) return other;
  }
  return std::nullopt;
}

// Waits until missing() names nobody. An error where lost() names a rank, `loss` says what it did,
// or where the time is over.
template <class Missing, class Lost>
Result<void> wait_for_all(const RankContext& rank, Missing missing, Lost lost,
                          const std::string& loss) {
  const auto begin = Clock::now();
  auto next_look = begin + std::chrono::milliseconds(50);
  while (const auto absent = missing()) {
    const auto now = Clock::now();
    if (now >= next_look) {
      next_look = now + std::chrono::milliseconds(100);
      if (const auto dead = lost()) {
        return Error{ErrorCode::peer_lost,
                     fmt::format("rank {} {}", *dead, loss),
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

// A job may be run again, by the same processes or by those that take their place
// (`muster run sh -c "./one; ./two"`). Who has come to the new run has left the old one behind:
// when all have come, rank 0 makes the memory as new. `run` counts from 0.
Result<void> begin_again(RankContext& rank, std::uint32_t run) {
  JobHeader& header = rank.job->header();
  const auto comes_not = [&](std::uint32_t other) {
    // Pairs with the release in join.
    return header.rank_records[other].runs.load(std::memory_order_acquire) <= run;
  };
  const auto late = [&] { return first_rank(rank, comes_not); };
  const auto not_ready = [&] {
    // Pairs with the release below.
    if (header.run.load(std::memory_order_acquire) == run) return std::optional<std::uint32_t>();
    return std::optional(late().value_or(0));
  };
  const auto gone = [&] {
    return first_rank(rank, [&](std::uint32_t other) { return is_gone(header, other); });
  };
  const std::string loss = fmt::format("ended before all ranks had come to run {}", run + 1);
  if (rank.job_rank != 0) return wait_for_all(rank, not_ready, gone, loss);
  if (Result<void> come = wait_for_all(rank, late, gone, loss); !come) return come;
  rank.job->clear();
  header.run.store(run, std::memory_order_release);
  return {};
}

// All ranks have come to this run, and team 0 is there.
Result<void> complete(RankContext& rank) {
  const auto absent = [&](std::uint32_t other) {
    // Pairs with the release in join: rank 0 comes when it has founded the team.
    return rank.job->header().rank_records[other].state.load(std::memory_order_acquire) ==
           RankState::absent;
  };
  return wait_for_all(
      rank, [&] { return first_rank(rank, absent); },
      [&] {
        return first_rank(rank,
                          [&](std::uint32_t other) { return is_lost(rank.job->header(), other); });
      },
      "died before the team was complete");
}

Result<void> found_first_team(const RankContext& rank) {
  std::vector<std::uint32_t> everybody(rank.job->header().ranks);
  std::iota(everybody.begin(), everybody.end(), 0U);
  const Result<std::uint32_t> founded = found_team(rank, everybody);
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
  step(options.rank, "join: take the mark");
  if (!options.marked) {
    Result<LifeMark> mark = LifeMark::take(rank->job, options.rank);
    if (!mark) return mark.error();
    rank->mark = std::move(*mark);
  }
  register_for_barriers();
  step(options.rank, "join: come to the run");
  RankRecord& record = rank->job->header().rank_records[options.rank];
  // Pairs with the acquire in begin_again: what this rank did in its last run is done.
  const std::uint32_t run = record.runs.fetch_add(1, std::memory_order_release);
  if (run > 0) {
    if (Result<void> begun = begin_again(*rank, run); !begun) return begun.error();
  }
  if (options.rank == 0) {
    if (Result<void> founded = found_first_team(*rank); !founded) return founded.error();
  }
  step(options.rank, "join: say so");
  // Pairs with the acquire in complete.
  record.state.store(RankState::joined, std::memory_order_release);
  step(options.rank, "join: wait for all");
  if (Result<void> done = complete(*rank); !done) {
    leave(*rank);  // it has begun no body
    return done.error();
  }
  return rank;
}

void leave(RankContext& rank) {
  // Pairs with the acquire in is_lost, which looks at it after the rank's end was seen.
  rank.job->header().rank_records[rank.job_rank].state.store(RankState::left,
                                                             std::memory_order_release);
}

}  // namespace muster::host
