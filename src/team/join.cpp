#include "team/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/step.hpp"
#include "fabric/host/futex.hpp"
#include "fabric/host/liveness.hpp"
#include "team/control.hpp"

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

// The rank that was lost before all had come to the run: as somebody has seen it, or as this one
// does.
template <class IsLost>
std::optional<std::uint32_t> first_lost(const RankContext& rank, std::uint32_t run,
                                        IsLost is_lost_now) {
  std::atomic<std::uint64_t>& record = rank.job->header().unjoined;
  const auto of_this_run = [&](std::uint64_t seen) { return seen >> 32U == run + 1; };
  std::uint64_t seen = record.load(std::memory_order_relaxed);
  if (!of_this_run(seen)) {
    const auto lost = first_rank(rank, is_lost_now);
    if (!lost) return std::nullopt;
    const std::uint64_t mine = std::uint64_t{run + 1} << 32U | *lost;
    // Relaxed: it is all in the word.
    if (record.compare_exchange_strong(seen, mine, std::memory_order_relaxed)) return lost;
  }
  return static_cast<std::uint32_t>(seen);
}

// Waits for the word, whose change may make all_here() true. An error where lost() names a rank,
// `loss` says what it did, or where the time is over, which counts from `begin`: then absent()
// names one that has not come.
template <class AllHere, class Absent, class Lost>
Result<void> wait_for_all(const RankContext& rank, Clock::time_point begin,
                          std::atomic<std::uint32_t>& word, AllHere all_here, Absent absent,
                          Lost lost, const std::string& loss) {
  auto next_look = begin + std::chrono::milliseconds(50);
  while (true) {
    const std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (all_here()) return {};
    const auto now = Clock::now();
    if (now >= next_look) {
      next_look = now + std::chrono::milliseconds(100);
      end_if_launcher_is_lost(rank.job->header(), rank.job_rank);
      if (const auto dead = lost()) {
        return Error{ErrorCode::peer_lost,
                     fmt::format("rank {} {}", *dead, loss),
                     Rank{rank.job_rank},
                     {},
                     Rank{*dead}};
      }
    }
    if (now - begin >= rank.timeout) {
      const std::uint32_t late = absent().value_or(0);
      return Error{ErrorCode::expired,
                   fmt::format("rank {} has not come within {} ms", late, rank.timeout.count()),
                   Rank{rank.job_rank},
                   {},
                   Rank{late}};
    }
    futex_wait(reinterpret_cast<std::uint32_t&>(word), seen,
               std::min(next_look, begin + std::chrono::nanoseconds(rank.timeout)) - now);
  }
}

// The last of `all` to add to the word wakes those who wait for it.
void add_to(std::atomic<std::uint32_t>& word, std::uint32_t all) {
  // Pairs with the acquire of those who wait.
  const std::uint32_t count = word.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (count % all == 0) futex_wake(reinterpret_cast<std::uint32_t&>(word));
}

// A job may be run again, by the same processes or by those that take their place
// (`muster run sh -c "./one; ./two"`). Who has come to the new run has left the old one behind:
// when all have come, rank 0 makes the memory as new. `run` counts from 0.
Result<void> begin_again(RankContext& rank, std::uint32_t run, Clock::time_point begin) {
  JobHeader& header = rank.job->header();
  const auto comes_not = [&](std::uint32_t other) {
    // Pairs with the release in join.
    return header.rank_records[other].runs.load(std::memory_order_acquire) <= run;
  };
  const auto late = [&] { return first_rank(rank, comes_not); };
  const auto gone = [&] {
    return first_lost(rank, run, [&](std::uint32_t other) { return is_gone(header, other); });
  };
  const std::string loss = fmt::format("ended before all ranks had come to run {}", run + 1);
  if (rank.job_rank != 0) {
    // Pairs with the release below.
    const auto ready = [&] { return header.run.load(std::memory_order_acquire) == run; };
    return wait_for_all(rank, begin, header.run, ready, late, gone, loss);
  }
  // The sum is a hint: where a rank has given up a run, it is ahead of the others.
  const auto all_here = [&] {
    return header.begun.load(std::memory_order_acquire) >= (run + 1) * header.ranks && !late();
  };
  if (Result<void> come = wait_for_all(rank, begin, header.begun, all_here, late, gone, loss);
      !come)
    return come;
  rank.job->clear();
  header.run.store(run, std::memory_order_release);
  futex_wake(reinterpret_cast<std::uint32_t&>(header.run));
  return {};
}

// All ranks have come to this run, and team 0 is there.
Result<void> complete(RankContext& rank, std::uint32_t run, Clock::time_point begin) {
  JobHeader& header = rank.job->header();
  const auto absent = [&] {
    return first_rank(rank, [&](std::uint32_t other) {
      return header.rank_records[other].state.load(std::memory_order_relaxed) == RankState::absent;
    });
  };
  const auto lost = [&] {
    return first_lost(rank, run, [&](std::uint32_t other) { return is_lost(header, other); });
  };
  // Pairs with add_to in join: rank 0 comes when it has founded the team.
  const auto all_here = [&] {
    return header.joined.load(std::memory_order_acquire) >= header.ranks;
  };
  return wait_for_all(rank, begin, header.joined, all_here, absent, lost,
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
  const auto begin = Clock::now();  // all of joining has one deadline
  auto rank = std::make_shared<RankContext>(std::move(job), options.rank);
  rank->processes = options.processes;
  rank->timeout = options.timeout;
  rank->verify = options.verify;
  rank->on_expiry = options.on_expiry;
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
  JobHeader& header = rank->job->header();
  // Pairs with the acquire in begin_again: what this rank did in its last run is done.
  const std::uint32_t run = record.runs.fetch_add(1, std::memory_order_release);
  add_to(header.begun, header.ranks);
  if (run > 0) {
    if (Result<void> begun = begin_again(*rank, run, begin); !begun) return begun.error();
  }
  if (options.rank == 0) {
    if (Result<void> founded = found_first_team(*rank); !founded) return founded.error();
  }
  step(options.rank, "join: say so");
  // Pairs with the acquire in left_body.
  record.state.store(RankState::joined, std::memory_order_release);
  add_to(header.joined, header.ranks);
  step(options.rank, "join: wait for all");
  if (Result<void> done = complete(*rank, run, begin); !done) {
    leave(*rank);  // it has begun no body
    return done.error();
  }
  return rank;
}

void leave(RankContext& rank) {
  rank.left = true;
  // Pairs with the acquire in is_lost, which looks at it after the rank's end was seen.
  rank.job->header().rank_records[rank.job_rank].state.store(RankState::left,
                                                             std::memory_order_release);
}

}  // namespace muster::host
