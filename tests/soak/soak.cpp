// muster_soak: barriers by the million and starts by the thousand.
//
//   muster_soak                        all of it: a quarter of an hour or more
//   muster_soak --barriers 2000 --starts 10    the short form that ctest runs
//
// For each number of ranks, as threads and as processes: `barriers` calls of each kind in runs of
// random length, the kinds alternating, with random delays; behind each call the neighbour's data
// is checked. Then `starts` jobs of 4 ranks are started and ended; afterwards this process has the
// same descriptors, threads and children as before, and /dev/shm the same entries.
#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "conformance/delay.hpp"
#include "muster/muster.hpp"
#include "support/entries.hpp"
#include "support/options.hpp"

namespace {

using namespace muster;
using conformance::Random;
using testing::Checks;

struct Plan {
  std::uint32_t barriers = 1'000'000;
  std::uint32_t starts = 1000;
  std::vector<std::uint32_t> ranks{2, 3, 8};
  std::uint32_t seed = 1;
};

// Two objects of each kind, so that objects of one kind alternate as well.
struct Barriers {
  explicit Barriers(Team& team)
      : epoch{EpochBarrier(team), EpochBarrier(team)},
        credit{CreditBarrier(team), CreditBarrier(team)},
        flip{FlipBarrier(team), FlipBarrier(team)},
        counter{CounterBarrier(team), CounterBarrier(team)} {}

  template <class F>
  WaitStatus sync(F& fabric, std::uint32_t kind, std::uint32_t which) const {
    switch (kind) {
      case 0: return epoch[which].sync(fabric);
      case 1: return credit[which].sync(fabric);
      case 2: return flip[which].sync(fabric);
      default: return counter[which].sync(fabric);
    }
  }

  EpochBarrier epoch[2];
  CreditBarrier credit[2];
  FlipBarrier flip[2];
  CounterBarrier counter[2];
};

// A round number and its writer in one word.
[[nodiscard]] std::uint32_t word_of(std::uint32_t round, Rank writer) {
  return round * 64 + writer.value;
}

template <class F>
WaitStatus soak_lane(F& fabric, const Plan& plan, const Barriers& barriers,
                     WindowRef<std::uint32_t> inbox, WindowRef<std::uint32_t> outbox,
                     Checks& checks) {
  Random shared(plan.seed);  // the same draws on every rank
  Random delays = conformance::random_of(fabric);
  std::uint32_t left[] = {plan.barriers, plan.barriers, plan.barriers, plan.barriers};
  std::uint32_t round = 0;
  while (left[0] + left[1] + left[2] + left[3] > 0) {
    const auto kind = static_cast<std::uint32_t>(shared() % 4);
    const auto which = static_cast<std::uint32_t>(shared() % 2);
    const std::uint32_t run = std::min(left[kind], static_cast<std::uint32_t>(1 + shared() % 50));
    const bool delayed = shared() % 16 == 0;
    left[kind] -= run;
    for (std::uint32_t i = 0; i < run; ++i) {
      ++round;
      // Two places: a rank writes one again only after a barrier that its readers have entered
      // after reading.
      const std::int64_t place = round % 2;
      fabric.local(outbox)[0] = word_of(round, fabric.rank());
      fabric.put(inbox, right_of(fabric), place, outbox, 0, 1);
      if (delayed) conformance::random_delay(delays);
      const WaitStatus status = barriers.sync(fabric, kind, which);
      if (status != WaitStatus::ok) return status;
      if (!checks.equal(fabric.local(inbox)[place], word_of(round, left_of(fabric)),
                        "the neighbour's word"))
        return WaitStatus::ok;
    }
  }
  return WaitStatus::ok;
}

Result<void> soak_team(Team& team, const Plan& plan) {
  const auto inbox = *team.window<std::uint32_t>({2});
  const auto outbox = *team.window<std::uint32_t>({1});
  const Barriers barriers(team);
  Checks checks;
  const Result<void> ran = team.lane(
      [&](auto& fabric) { return soak_lane(fabric, plan, barriers, inbox, outbox, checks); });
  return ran ? checks.done() : ran;
}

int soak_barriers(const Plan& plan) {
  for (const RunAs as : {threads, processes}) {
    for (const std::uint32_t ranks : plan.ranks) {
      const auto begin = std::chrono::steady_clock::now();
      const int status =
          run({.ranks = ranks, .as = as}, [&](Team& team) { return soak_team(team, plan); });
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      fmt::print("{} {:9}: {} barriers of each of 4 kinds in {:.1f} s: {}\n", ranks,
                 as == threads ? "threads" : "processes", plan.barriers, took.count(),
                 status == 0 ? "ok" : "FAILED");
      std::fflush(stdout);
      if (status != 0) return status;
    }
  }
  return 0;
}

struct Belongings {
  std::size_t descriptors = testing::entries_of("/proc/self/fd").size();
  std::size_t threads = testing::entries_of("/proc/self/task").size();
  bool children = waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
  std::set<std::string> shm = testing::shared_memory_of_muster();
  friend bool operator==(const Belongings&, const Belongings&) = default;
};

int soak_starts(const Plan& plan) {
  const Belongings before;
  for (std::uint32_t start = 0; start < plan.starts; ++start) {
    const RunAs as = start % 4 == 3 ? threads : processes;
    const int status = run({.ranks = 4, .as = as}, [](Team& team) -> Result<void> {
      const EpochBarrier barrier(team);
      return team.lane([&](auto& fabric) { return barrier.sync(fabric); });
    });
    if (status != 0) {
      fmt::print("start {} FAILED with {}\n", start, status);
      return status;
    }
  }
  const Belongings after;
  const bool clean = before == after;
  fmt::print("{} starts of 4 ranks: descriptors {} -> {}, threads {} -> {}, children {}: {}\n",
             plan.starts, before.descriptors, after.descriptors, before.threads, after.threads,
             after.children ? "left" : "none", clean ? "ok" : "FAILED");
  return clean ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  testing::Options options("Barriers by the million and starts by the thousand.");
  options.add("--barriers", plan.barriers, "Calls of each kind, for each team");
  options.add("--starts", plan.starts, "Starts and ends of a job of 4 ranks");
  options.add("--ranks", plan.ranks, "Sizes of teams");
  options.add("--seed", plan.seed, "Of the order of kinds");
  if (!options.parse(argc, argv)) return options.exit_code();
  if (const int status = soak_barriers(plan); status != 0) return status;
  return soak_starts(plan);
}
