// The bookkeeping of `muster bench`, on contenders whose times are known.
#include "bench/measure.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <memory>

#include "bench/ranks.hpp"
#include "bench/report.hpp"

namespace muster::bench {
namespace {

// Returns `ns` for every block, and notes in `order` that it ran.
Contender fake(const std::string& name, Role role, double ns, std::string* order = nullptr) {
  return {.name = name,
          .group = role == Role::peer ? name : "",
          .role = role,
          .as = As::processes,
          .run = [name, ns, order](const Plan& plan) -> Result<Blocks> {
            if (order != nullptr) *order += name;
            return Blocks(plan.repeat, ns);
          }};
}

Contender failing(const std::string& name, Role role) {
  Contender contender = fake(name, role, 1);
  contender.run = [](const Plan&) -> Result<Blocks> {
    return Error{ErrorCode::system, "it broke"};
  };
  return contender;
}

std::vector<Measured> run(const std::vector<Contender>& contenders, const Request& request) {
  return measure(contenders, request, {0}, [](std::uint32_t, const std::string&) {});
}

TEST(Median, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(Measure, TurnsTheOrderByOneFromRoundToRound) {
  std::string order;
  const std::vector<Contender> contenders{fake("a", Role::muster, 1, &order),
                                          fake("b", Role::muster, 1, &order),
                                          fake("c", Role::muster, 1, &order)};
  run(contenders, Request{.rounds = 3});
  EXPECT_EQ(order,
            "abc"
            "abc"
            "bca"
            "cab");  // the first is the rehearsal
}

TEST(Measure, FillsABlockWithCalls) {
  Request request{.rounds = 1};
  request.block = std::chrono::milliseconds{1};
  std::vector<Measured> measured = run({fake("a", Role::muster, 100)}, request);
  EXPECT_EQ(measured[0].calls_per_block, std::vector<std::uint64_t>{10'000});
  request.calls = 7;
  measured = run({fake("a", Role::muster, 100)}, request);
  EXPECT_EQ(measured[0].calls_per_block, std::vector<std::uint64_t>{7});
}

TEST(Measure, ShortensTheRunsOfAContenderThatTurnsOutSlow) {
  auto runs = std::make_shared<int>(0);
  Contender contender = fake("a", Role::muster, 0);
  contender.run = [runs](const Plan& plan) -> Result<Blocks> {
    return Blocks(plan.repeat, (*runs)++ == 0 ? 100.0 : 10'000.0);
  };
  Request request{.rounds = 2};
  request.block = std::chrono::milliseconds{1};
  EXPECT_EQ(run({contender}, request)[0].calls_per_block,
            (std::vector<std::uint64_t>{10'000, 100}));
}

TEST(Measure, RatiosAreTakenWithinARound) {
  // Both double from round to round: the medians of the two differ, their ratio does not.
  Measured one;
  Measured other;
  for (const double drift : {1.0, 2.0, 4.0}) {
    one.rounds.push_back({3 * drift});
    other.rounds.push_back({2 * drift});
  }
  ASSERT_TRUE(ratio(one, other).has_value());
  EXPECT_DOUBLE_EQ(*ratio(one, other), 1.5);
  EXPECT_FALSE(ratio(one, Measured{}).has_value());
}

TEST(Measure, TheFastestOfARoleIsTheBase) {
  const std::vector<Measured> all =
      run({fake("slow", Role::peer, 30), fake("fast", Role::peer, 20), fake("us", Role::muster, 10),
           failing("broken", Role::peer)},
          Request{.rounds = 2});
  ASSERT_NE(fastest(all, Role::peer), nullptr);
  EXPECT_EQ(fastest(all, Role::peer)->contender.name, "fast");
  EXPECT_EQ(fastest(all, Role::floor), nullptr);
}

TEST(Report, SaysWhyAContenderHasNoTimes) {
  Contender absent = fake("absent", Role::peer, 1);
  absent.why_not = "nobody installed it";
  const Request request{.rounds = 2};
  const std::vector<Measured> all =
      run({fake("us", Role::muster, 10), absent, failing("broken", Role::peer)}, request);
  const Topic topic{.name = "barrier",
                    .fabric = "host",
                    .unit = "barrier",
                    .summary = "",
                    .peers = {},
                    .contenders = {}};
  const Conditions conditions;
  const Report report{topic, request, conditions, all};
  const std::string text = table(report);
  EXPECT_NE(text.find("not measured: absent: nobody installed it\n"), std::string::npos) << text;
  EXPECT_NE(text.find("failed: broken: "), std::string::npos) << text;
  EXPECT_NE(text.find("it broke"), std::string::npos) << text;
  const nlohmann::json json = to_json(report);
  EXPECT_EQ(json.at("contenders").at(1).at("why_not"), "nobody installed it");
  EXPECT_TRUE(json.at("contenders").at(2).at("failed").get<bool>());
}

TEST(RunApart, CollectsTheLongestTimeOfEachBlock) {
  const Plan plan{.ranks = 2, .calls = 1, .repeat = 2};
  const Result<Blocks> blocks = run_apart(plan, [](std::span<RankLog> logs) {
    logs[0] = {.ends = 2, .ns = {5, 1}};
    logs[1] = {.ends = 2, .ns = {3, 4}};
    return 0;
  });
  ASSERT_TRUE(blocks.has_value()) << to_string(blocks.error());
  EXPECT_EQ(*blocks, (Blocks{5, 4}));
}

TEST(RunApart, AMissingBlockIsAnError) {
  const Result<Blocks> blocks = run_apart(Plan{.repeat = 2}, [](std::span<RankLog> logs) {
    logs[0].ends = 2;
    return 0;
  });
  ASSERT_FALSE(blocks.has_value());
  EXPECT_NE(to_string(blocks.error()).find("rank 1 completed 0 of 2 blocks"), std::string::npos);
}

TEST(RunApart, TellsHowTheContenderFailed) {
  const Result<Blocks> exited = run_apart(Plan{}, [](std::span<RankLog>) {
    dprintf(STDERR_FILENO, "first\nthe reason\n");
    return 3;
  });
  ASSERT_FALSE(exited.has_value());
  EXPECT_NE(to_string(exited.error()).find("status 3: the reason"), std::string::npos)
      << to_string(exited.error());

  const Result<Blocks> thrown = run_apart(Plan{}, [](std::span<RankLog>) -> int {
    throw Failure(Error{ErrorCode::unavailable, "no such thing here"});
  });
  ASSERT_FALSE(thrown.has_value());
  EXPECT_NE(to_string(thrown.error()).find("no such thing here"), std::string::npos);
}

TEST(RunApart, ARunThatHangsIsEndedWithItsRanks) {
  const Plan plan{.ranks = 1, .limit = std::chrono::milliseconds{200}};
  const SharedBytes shared(sizeof(pid_t));
  const Result<Blocks> blocks = run_apart(plan, [&](std::span<RankLog>) {
    return run_ranks(plan, As::processes, [&](std::uint32_t) {
      *shared.at<pid_t>() = getpid();
      while (true) pause();
    });
  });
  ASSERT_FALSE(blocks.has_value());
  EXPECT_EQ(blocks.error().code, ErrorCode::expired);
  const pid_t rank = *shared.at<pid_t>();
  ASSERT_GT(rank, 0);
  for (int i = 0; i < 500 && kill(rank, 0) == 0; ++i) usleep(10'000);  // until init has reaped it
  EXPECT_NE(kill(rank, 0), 0);
}

TEST(RunProgram, ReturnsWhatItWroteAndSaysWhatIsMissing) {
  const Result<std::string> said =
      run_program({"sh", "-c", "echo words"}, std::chrono::milliseconds{10'000});
  ASSERT_TRUE(said.has_value()) << to_string(said.error());
  EXPECT_EQ(*said, "words\n");
  const Result<std::string> missing =
      run_program({"/nonexistent/program"}, std::chrono::milliseconds{10'000});
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(to_string(missing.error()).find("/nonexistent/program"), std::string::npos);
}

}  // namespace
}  // namespace muster::bench
