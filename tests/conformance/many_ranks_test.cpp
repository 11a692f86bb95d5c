// Every collective on many numbers of ranks up to 64, which are threads: nothing, a single element,
// what is no multiple of anything, and more than is staged; several calls behind each other.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/every_collective.hpp"
#include "muster/run.hpp"

namespace muster::conformance {
namespace {

Result<void> each_kind(Team& team, const std::vector<std::int64_t>& counts) {
  const every::Objects objects(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    every::Caller caller(fabric, objects);
    std::uint32_t call = 0;
    for (std::uint32_t kind = 0; kind < every::kinds; ++kind)
      for (const std::int64_t count : counts) {
        const Rank root{(7 * ++call) % fabric.size()};
        const WaitStatus status = caller.make(static_cast<every::Kind>(kind), call, count, root);
        if (status != WaitStatus::ok) return result_of(status);
        if (!caller.is_right())
          return Error{.code = ErrorCode::mismatch,
                       .what = "a result is wrong: kind " + std::to_string(kind) + ", " +
                               std::to_string(count) + " elements"};
      }
    return {};
  });
}

class ManyRanks : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ManyRanks, EveryCollective) {
  const std::uint32_t ranks = GetParam();
  // Where many threads share a core a meeting takes its time.
  std::vector<std::int64_t> counts{3};
  if (ranks <= 33) counts.insert(counts.end(), {0, 1});
  if (ranks <= 16) counts.push_back(every::most);
  const RunOptions options{.ranks = ranks, .as = threads, .timeout = std::chrono::seconds(60)};
  EXPECT_EQ(run(options, [&](Team& team) { return each_kind(team, counts); }), 0);
}

// Powers of two, what lies beside them, primes.
INSTANTIATE_TEST_SUITE_P(Sampled, ManyRanks,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 31, 33, 47, 64),
                         [](const auto& one) { return std::to_string(one.param); });

}  // namespace
}  // namespace muster::conformance
