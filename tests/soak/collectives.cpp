// muster_soak_collectives: each collective a hundred thousand times.
//
//   muster_soak_collectives                  all of it: hours
//   muster_soak_collectives --calls 100      the short form that ctest runs
//   muster_soak_collectives --seconds 600    as much of it as that time allows, and says how much
//
// For each number of ranks, as threads and as processes: so many calls of each collective and
// algorithm, in an order that is drawn, with nothing in between; counts and roots are drawn, too,
// ranks delayed at random, and every element of every result is looked at.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/delay.hpp"
#include "conformance/every_collective.hpp"
#include "muster/muster.hpp"
#include "support/options.hpp"

namespace {

using namespace muster;
using namespace conformance::every;
using conformance::Random;
using Clock = std::chrono::steady_clock;

struct Plan {
  std::uint32_t calls = 100'000;
  double seconds = 0;
  std::vector<std::uint32_t> ranks{2, 3, 8};
  std::uint32_t seed = 1;
};

// Rank 0 says every now and then whether there is time left.
template <class F>
WaitStatus may_go_on(F& fabric, const Objects& objects, Clock::time_point until, bool& goes_on) {
  std::vector<T> word{until == Clock::time_point{} || Clock::now() < until ? 1U : 0U};
  const WaitStatus status =
      objects.broadcast.run(fabric, run_of(word, 1), run_of(word, 1), 1, Rank{0});
  goes_on = word[0] != 0;
  return status;
}

template <class F>
Result<void> soak_lane(F& fabric, const Plan& plan, const Objects& objects,
                       Clock::time_point until) {
  Random shared(plan.seed);  // the same draws on every rank
  Random delays = conformance::random_of(fabric);
  Caller<F> caller(fabric, objects);
  std::array<std::uint32_t, kinds> left{};
  left.fill(plan.calls);
  std::uint32_t call = 0;
  bool goes_on = true;
  for (; goes_on && std::any_of(left.begin(), left.end(), [](auto n) { return n > 0; }); ++call) {
    std::uint32_t kind = static_cast<std::uint32_t>(shared()) % kinds;
    while (left[kind] == 0) kind = (kind + 1) % kinds;
    --left[kind];
    const std::int64_t count = shared() % 8 == 0 ? shared() % most : shared() % 40;
    const Rank root{static_cast<std::uint32_t>(shared()) % fabric.size()};
    if (shared() % 4 == 0) conformance::random_delay(delays);
    const WaitStatus status = caller.make(static_cast<Kind>(kind), call, count, root);
    if (status != WaitStatus::ok) return result_of(status);
    if (!caller.is_right())
      return Error{.code = ErrorCode::mismatch,
                   .what = fmt::format("a result is wrong: kind {}, call {}, {} elements, root {}",
                                       kind, call, count, root.value)};
    if (call % 64 != 0) continue;
    if (const WaitStatus told = may_go_on(fabric, objects, until, goes_on); told != WaitStatus::ok)
      return result_of(told);
  }
  if (fabric.rank() == Rank{0}) {
    const auto most_left = *std::max_element(left.begin(), left.end());
    fmt::print("  {} calls, of each of {} collectives at least {}\n", call, kinds,
               plan.calls - most_left);
    std::fflush(stdout);
  }
  return {};
}

int soak(const Plan& plan) {
  const auto jobs = static_cast<double>(2 * plan.ranks.size());
  for (const RunAs as : {threads, processes})
    for (const std::uint32_t ranks : plan.ranks) {
      const auto begin = Clock::now();
      const auto share = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(plan.seconds / jobs));
      const Clock::time_point until = plan.seconds > 0 ? begin + share : Clock::time_point{};
      const int status = run({.ranks = ranks, .as = as}, [&](Team& team) -> Result<void> {
        const Objects objects(team);
        return team.lane([&](auto& fabric) { return soak_lane(fabric, plan, objects, until); });
      });
      const std::chrono::duration<double> took = Clock::now() - begin;
      fmt::print("{} {:9} in {:.1f} s: {}\n", ranks, as == threads ? "threads" : "processes",
                 took.count(), status == 0 ? "ok" : "FAILED");
      std::fflush(stdout);
      if (status != 0) return status;
    }
  fmt::print("all collectives: ok\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  testing::Options options("Each collective a hundred thousand times.");
  options.add("--calls", plan.calls, "Calls of each collective, for each team");
  options.add("--seconds", plan.seconds, "Stop after so many in all; 0: not");
  options.add("--ranks", plan.ranks, "Sizes of teams");
  options.add("--seed", plan.seed, "Of what is drawn");
  if (!options.parse(argc, argv)) return options.exit_code();
  return soak(plan);
}
