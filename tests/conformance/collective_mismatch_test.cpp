// Ranks that call a collective with another root, operator or count, or of which one is refused,
// get an error that names both sides, soon, and not a hang: each of the collectives.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/mismatch.hpp"
#include "muster/collective.hpp"
#include "muster/team/collective.hpp"
#include "muster/team/counted.hpp"
#include "muster/team/send_receive.hpp"

namespace muster {
namespace {

using testing::Body;
using testing::Words;

class CollectiveMismatch : public testing::Mismatch {};

INSTANTIATE_TEST_SUITE_P(As, CollectiveMismatch, ::testing::Values(threads, processes),
                         testing::name_of_way);

// What a rank passes to a call, which another one may not.
struct Given {
  Rank root{0};
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 4;
};

using Call = std::function<Result<void>(Team&, Given)>;
struct Named {
  const char* name;
  Call call;
};

// Ends as long as any of them needs, of two ranks.
struct Ends {
  std::vector<float> to = std::vector<float>(64);
  std::vector<float> from = std::vector<float>(64);
  [[nodiscard]] std::span<float> to_of(std::size_t count) { return std::span(to).first(count); }
  [[nodiscard]] std::span<const float> from_of(std::size_t count) const {
    return std::span(from).first(count);
  }
};

template <Algorithm algorithm>
Result<void> all_reduce_by(Team& team, Given given) {
  const AllReduce<float> sums(team, {.algorithm = algorithm});
  const auto window = *team.window<float>({64});
  return team.lane([&](auto& fabric) {
    return sums.run(fabric, window, window, static_cast<std::int64_t>(given.count), given.op);
  });
}

std::vector<Named> reductions() {
  return {
      {"AllReduce one_shot", all_reduce_by<Algorithm::one_shot>},
      {"AllReduce two_phase", all_reduce_by<Algorithm::two_phase>},
      {"AllReduce ring", all_reduce_by<Algorithm::ring>},
      {"AllReduce direct", all_reduce_by<Algorithm::direct>},
      {"ReduceScatter",
       [](Team& team, Given given) {
         Ends ends;
         return reduce_scatter(team, ends.to_of(given.count), ends.from_of(2 * given.count),
                               given.op);
       }},
      {"Reduce",
       [](Team& team, Given given) {
         Ends ends;
         return reduce(team, ends.to_of(given.count), ends.from_of(given.count), given.root,
                       given.op);
       }},
  };
}

std::vector<Named> rooted() {
  return {
      reductions().back(),
      {"Broadcast",
       [](Team& team, Given given) {
         Ends ends;
         return broadcast(team, ends.to_of(given.count), given.root);
       }},
      {"Gather",
       [](Team& team, Given given) {
         Ends ends;
         return gather(team, ends.to_of(2 * given.count), ends.from_of(given.count), given.root);
       }},
      {"Scatter",
       [](Team& team, Given given) {
         Ends ends;
         return scatter(team, ends.to_of(given.count), ends.from_of(2 * given.count), given.root);
       }},
  };
}

std::vector<Named> all_of_one_count() {
  std::vector<Named> all = reductions();
  for (const Named& one : rooted()) all.push_back(one);
  all.push_back({"AllGather", [](Team& team, Given given) {
                   Ends ends;
                   return all_gather(team, ends.to_of(2 * given.count), ends.from_of(given.count));
                 }});
  all.push_back({"AllToAll", [](Team& team, Given given) {
                   Ends ends;
                   return all_to_all(team, ends.to_of(2 * given.count),
                                     ends.from_of(2 * given.count));
                 }});
  return all;
}

// Each call once alike, and then with what rank 1 alone is given.
Body differs(const Call& call, Given odd) {
  return [call, odd](Team& team) -> Result<void> {
    if (auto alike = call(team, {}); !alike) return alike;
    return call(team, team.rank() == Rank{1} ? odd : Given{});
  };
}

TEST_P(CollectiveMismatch, OtherRoots) {
  for (const auto& [name, call] : rooted())
    expect_named(2, differs(call, {.root = Rank{1}}),
                 {std::string("called ") + name + " of 1 x 4 float32 (cell ", ", root 0)",
                  ", root 1)", "rank 0", "rank 1"});
}

TEST_P(CollectiveMismatch, OtherOperators) {
  std::vector<Named> all = reductions();
  all.push_back(
      {"ReduceScatterV", [](Team& team, Given given) {
         Ends ends;
         const std::vector<std::int64_t> counts{3, 4};
         const std::vector<std::int64_t> places{0, 3};
         return reduce_scatter_v(team, ends.to_of(4), ends.from_of(7), {counts, places}, given.op);
       }});
  for (const auto& [name, call] : all)
    expect_named(2, differs(call, {.op = ReduceOp::max}),
                 {std::string("called ") + name, ", operator sum", ", operator max"});
}

TEST_P(CollectiveMismatch, OtherCounts) {
  for (const auto& [name, call] : all_of_one_count())
    expect_named(
        2, differs(call, {.count = 5}),
        {std::string(name) + " of 1 x 4 float32", std::string(name) + " of 1 x 5 float32"});
}

// The rank that is refused is told why, the other one that it has been.
TEST_P(CollectiveMismatch, ARootThatDoesNotExist) {
  for (const auto& [name, call] : rooted()) {
    const std::vector<std::string> texts = outcomes(2, differs(call, {.root = Rank{7}}));
    EXPECT_NE(texts[1].find("root is 7; there are 2 ranks"), std::string::npos) << texts[1];
    for (const char* word : {"rank 1 called ", ", which is invalid", name})
      EXPECT_NE(texts[0].find(word), std::string::npos) << word << " is not in: " << texts[0];
  }
}

// In a lane, where only the status is the call's.
TEST_P(CollectiveMismatch, OneThatIsRefusedInItsLane) {
  const auto one_is_short = [](auto&& call) -> Body {
    return [call](Team& team) -> Result<void> {
      std::vector<float> many(16);
      const MemoryRef<float> all{many.data(), 1, 8};
      const MemoryRef<float> apart{many.data() + 8, 1, 8};
      const std::int64_t count = team.rank() == Rank{1} ? 9 : 4;
      return call(team, all, apart, count);
    };
  };
  const auto told = [&](const char* name, const Body& body) {
    const std::vector<std::string> texts = outcomes(2, body);
    EXPECT_NE(texts[1], "") << name;
    for (const char* word : {"rank 1 called ", ", which is invalid", name, " of 1 x 4 float32"})
      EXPECT_NE(texts[0].find(word), std::string::npos) << word << " is not in: " << texts[0];
  };
  told("AllGather", one_is_short([](Team& team, auto to, auto from, std::int64_t count) {
         const AllGather<float> gather(team);
         return team.lane([&](auto& fabric) { return gather.run(fabric, to, from, count); });
       }));
  told("AllReduce", one_is_short([](Team& team, auto to, auto from, std::int64_t count) {
         const AllReduce<float> sums(team, {.algorithm = Algorithm::one_shot});
         return team.lane([&](auto& fabric) { return sums.run(fabric, to, from, count); });
       }));
  told("AllToAll", one_is_short([](Team& team, auto to, auto from, std::int64_t count) {
         const AllToAll<float> exchange(team);
         return team.lane([&](auto& fabric) { return exchange.run(fabric, to, from, count); });
       }));
  told("ReduceScatter", one_is_short([](Team& team, auto to, auto from, std::int64_t count) {
         const ReduceScatter<float> sums(team);
         return team.lane([&](auto& fabric) { return sums.run(fabric, to, from, count); });
       }));
  told("Broadcast", one_is_short([](Team& team, auto to, auto from, std::int64_t count) {
         const Broadcast<float> broadcast(team);
         return team.lane(
             [&](auto& fabric) { return broadcast.run(fabric, to, from, count, Rank{0}); });
       }));
}

// Lengths in one line that do not fit each other, on one rank.
TEST_P(CollectiveMismatch, LengthsThatDoNotFitOnOneRank) {
  const std::vector<std::string> texts = outcomes(2, [](Team& team) -> Result<void> {
    Ends ends;
    // The first call sets up what the team keeps: ranks that differ there differ in that.
    if (auto alike = all_gather(team, ends.to_of(8), ends.from_of(4)); !alike) return alike;
    return all_gather(team, ends.to_of(team.rank() == Rank{1} ? 7 : 8), ends.from_of(4));
  });
  EXPECT_NE(texts[1].find("to has 7 elements and from 4"), std::string::npos) << texts[1];
  EXPECT_NE(texts[0].find("rank 1 called all_gather, which is invalid"), std::string::npos)
      << texts[0];
}

// Both are told, in every run: the sender at the latest by its next call.
TEST_P(CollectiveMismatch, AMessageOfAnotherLength) {
  unsetenv("MUSTER_VERIFY");
  for (const std::size_t length : {5UL, 200'000UL}) {
    const std::vector<std::string> texts = outcomes(2, [&](Team& team) -> Result<void> {
      const SendReceive<float> pairs(team);
      std::vector<float> message(length);
      if (team.rank() == Rank{0})
        return receive(team, pairs, std::span(message).first(length - 1), Rank{1});
      Result<void> sent = send(team, pairs, std::span(message), Rank{0});
      for (int again = 0; again < 100 && sent; ++again)
        sent = send(team, pairs, std::span(message), Rank{0});
      return sent;
    });
    EXPECT_NE(texts[0].find("rank 1 has sent " + std::to_string(length) + " elements"),
              std::string::npos)
        << texts[0];
    EXPECT_NE(texts[1].find("rank 0 receives another number of elements"), std::string::npos)
        << texts[1];
  }
}

}  // namespace
}  // namespace muster
