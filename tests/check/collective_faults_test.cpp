// What collectives and barriers report where ranks give them different things, or something that
// they were not made for: by name, for both sides.
#include <cstdint>
#include <string>
#include <vector>

#include "check/asking.hpp"
#include "muster/barrier.hpp"
#include "muster/collective.hpp"

namespace muster::check {
namespace {

using Number = std::int32_t;
constexpr std::int64_t two_wide = 2;

void expect_told(const Report& report, Kind kind, const std::vector<std::string>& words) {
  ASSERT_FALSE(report.findings.empty()) << told(report);
  const Finding& first = report.findings.front();
  EXPECT_EQ(first.kind, kind) << told(report);
  for (const std::string& word : words)
    EXPECT_NE(first.what.find(word), std::string::npos) << word << " is not in: " << first.what;
}

struct Given {
  Rank root{0};
  ReduceOp op = ReduceOp::sum;
  std::int64_t count = 2;
};

// `call` with what rank 1 alone is given.
template <class Make>
void expect_divergence(Given odd, const Make& make, const std::vector<std::string>& words) {
  const Program program = [&](model::Team& team) {
    const auto window = *team.window<Number>({8}, "to");
    const auto from = *team.window<Number>({8}, "from");
    const auto call = make(team);
    (void)team.lane([&](auto& fabric) {
      return call(fabric, window, from, fabric.rank() == Rank{1} ? odd : Given{});
    });
  };
  expect_told(explore(options_for(2), program), Kind::divergence, words);
}

const auto reduce = [](model::Team& team) {
  return [sums = Reduce<Number, two_wide>(team, {.chunk = 2})](auto& fabric, auto to, auto from,
                                                               Given one) {
    return sums.run(fabric, to, from, one.count, one.root, one.op);
  };
};

TEST(Differing, RootsAreNamed) {
  expect_divergence({.root = Rank{1}}, reduce,
                    {" calls Reduce of 1 x 2 int32 (cell ", "operator sum, root 0)", "rank 0 ",
                     "rank 1 ", "operator sum, root 1)"});
}

TEST(Differing, OperatorsAreNamed) {
  expect_divergence({.op = ReduceOp::min}, reduce,
                    {"operator sum, root 0", "operator min, root 0"});
  expect_divergence({.op = ReduceOp::max},
                    [](model::Team& team) {
                      return [sums = ReduceScatter<Number, two_wide>(team, {.chunk = 4})](
                                 auto& fabric, auto to, auto from, Given one) {
                        return sums.run(fabric, to, from, one.count, one.op);
                      };
                    },
                    {"calls ReduceScatter of 1 x 2 int32", "operator sum)", "operator max)"});
}

// The one that is refused is named to those that would wait for it.
TEST(Differing, ACallThatOneRankRefuses) {
  expect_divergence({.root = Rank{5}}, reduce, {"root 0)", "root 5), which is invalid"});
  expect_divergence({.count = 9},
                    [](model::Team& team) {
                      return [gather = AllGather<Number, two_wide>(team, {.chunk = 2})](
                                 auto& fabric, auto to, auto from, Given one) {
                        return gather.run(fabric, to, from, one.count);
                      };
                    },
                    {"AllGather of 1 x 2 int32", "AllGather of 1 x 9 int32", ", which is invalid"});
}

// Where all refuse it nobody waits, whatever else they were given.
TEST(Differing, ACallThatAllRefuse) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const auto window = *team.window<Number>({8}, "window");
    const Reduce<Number, two_wide> sums(team, {.chunk = 2});
    (void)team.lane([&](auto& fabric) {
      const WaitStatus status =
          sums.run(fabric, window, window, -1, Rank{fabric.rank().value + 2}, Sum{});
      expect(fabric, status == WaitStatus::invalid, "the call is refused");
      return WaitStatus::ok;
    });
  });
  EXPECT_VERDICT(report, certified);
}

// A message that the receiver does not expect ends both calls, before and after all slots are used.
TEST(Differing, LengthsOfMessagesEndBothCalls) {
  for (const std::int64_t count : {2, 20}) {
    const Report report = explore(options_for(2), [&](model::Team& team) {
      using Pairs = SendReceive<Number, two_wide>;
      const Pairs pairs(team, {.chunk = 2});
      const auto window = *team.window<Number>({24}, "window");
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{1}) {
          const WaitStatus status = pairs.receive(fabric, Rank{0}, window, count + 1);
          expect(fabric, status == WaitStatus::invalid, "it is refused");
          expect(fabric, pairs.announced(fabric, Rank{0}) == typename Pairs::Sent{count, 1},
                 "what was sent is told");
          return WaitStatus::ok;
        }
        WaitStatus status = WaitStatus::ok;
        for (std::uint32_t call = 0; call <= Pairs::depth && status == WaitStatus::ok; ++call)
          status = pairs.send(fabric, Rank{1}, window, count);
        expect(fabric, status == WaitStatus::invalid, "the sender is told");
        expect(fabric, pairs.send(fabric, Rank{1}, window, count) == WaitStatus::refused,
               "and comes no more");
        return WaitStatus::ok;
      });
    });
    EXPECT_TRUE(answered(report)) << told(report);
  }
}

// Rows of one lane, and two lanes: the second would take marks of whatever lies behind.
TEST(Unfit, LanesWithoutAChannel) {
  Options options = options_for(2);
  options.lanes = 2;
  expect_told(explore(options,
                      [](model::Team& team) {
                        Rows rows = *team.rows();
                        rows.lanes = 1;
                        const FlipBarrier barrier(rows);
                        (void)team.lanes(2, [&](auto& fabric) { return barrier.sync(fabric); });
                      }),
              Kind::expect, {"FlipBarrier: there is a channel for each lane that runs"});
}

TEST(Unfit, AGridThatExpectsNobody) {
  expect_told(explore(options_for(1),
                      [](model::Team& team) {
                        const auto grid = GridBarrier(team).expecting(0);
                        (void)team.lane([&](auto& fabric) { return grid.sync(fabric); });
                      }),
              Kind::expect, {"GridBarrier::expecting: at least one lane arrives"});
}

// More arrivals than there are: how many are missing.
TEST(Unfit, ArrivalsThatAreMissingAreCounted) {
  Options options = options_for(1);
  options.lanes = 2;
  expect_told(explore(options,
                      [](model::Team& team) {
                        const auto grid = GridBarrier(team).expecting(5);
                        (void)team.lanes(2, [&](auto& fabric) { return grid.sync(fabric); });
                      }),
              Kind::deadlock,
              {">= 5 (it is 2, 3 more of 1 are missing), written so far by rank 0"});
}

}  // namespace
}  // namespace muster::check
