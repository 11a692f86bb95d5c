// Every builtin protocol is certified or complete, in every profile that it claims.
#include <tuple>

#include "check/asking.hpp"

namespace muster::check {
namespace {

struct Shape {
  std::uint32_t ranks, lanes, threads;
};

// The counter barrier at four ranks has up to some hundred thousand executions: that is for
// check_protocols_long_test.
bool is_long(const Entry& entry, Shape shape) {
  return entry.name.starts_with("counter_barrier") && shape.ranks >= 4;
}

class Protocols : public testing::TestWithParam<std::tuple<std::string, Shape>> {};

TEST_P(Protocols, AreCertifiedOrComplete) {
  const auto& [name, shape] = GetParam();
  const Entry& entry = *find(name);
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    if (profile < entry.protocol.weakest) continue;
    Options options = options_for(shape.ranks, profile, is_long(entry, shape) ? 2 : 3);
    options.lanes = shape.lanes;
    options.threads = shape.threads;
    const Report report = explore(options, entry.body);
    EXPECT_TRUE(answered(report)) << name_of(profile) << ": " << told(report);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Entry& entry : registry()) all.push_back(entry.name);
  return all;
}

std::string spelled(std::string name) {
  for (char& letter : name)
    if (letter == '/') letter = '_';
  return name;
}

std::string as_test_name(const std::string& name, Shape shape) {
  return spelled(name) + "_n" + std::to_string(shape.ranks) + "_l" + std::to_string(shape.lanes) +
         "_t" + std::to_string(shape.threads);
}

constexpr Shape shapes[] = {{2, 1, 1}, {2, 2, 1}, {2, 1, 2}, {2, 2, 2}, {3, 1, 1}, {3, 2, 1},
                            {3, 1, 2}, {3, 2, 2}, {4, 1, 1}, {4, 2, 1}, {4, 1, 2}, {4, 2, 2}};

INSTANTIATE_TEST_SUITE_P(Small, Protocols,
                         testing::Combine(testing::ValuesIn(names()), testing::ValuesIn(shapes)),
                         [](const auto& test) {
                           return as_test_name(std::get<0>(test.param), std::get<1>(test.param));
                         });

class ManyRanks : public testing::TestWithParam<std::string> {};

// With a certificate one execution is enough, whatever the number of ranks.
TEST_P(ManyRanks, AreCertified) {
  const Entry& entry = *find(GetParam());
  for (const std::uint32_t ranks : {8U, 31U})
    for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
      const Report report = explore(options_for(ranks, profile, 2), entry.body);
      EXPECT_VERDICT(report, certified) << ranks << " ranks, " << name_of(profile);
      EXPECT_EQ(report.executions, 1U);
    }
}

INSTANTIATE_TEST_SUITE_P(All, ManyRanks,
                         testing::Values("epoch_barrier", "credit_barrier", "flip_barrier",
                                         "dissemination_barrier", "system_barrier", "handoff"),
                         [](const auto& test) { return test.param; });

class EightRanks : public testing::TestWithParam<std::string> {};

// Roots, peers and counts go round: at 8 ranks, too, one execution stands for all.
TEST_P(EightRanks, AreCertified) {
  const Entry& entry = *find(GetParam());
  for (const std::uint32_t lanes : {1U, 2U})
    for (const std::uint32_t threads : {1U, 2U}) {
      Options options = options_for(8, Profile::rdma, 3);
      options.lanes = lanes;
      options.threads = threads;
      EXPECT_VERDICT(explore(options, entry.body), certified)
          << lanes << " lanes, " << threads << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(All, EightRanks,
                         testing::Values("all_reduce/one_shot", "all_reduce/two_phase",
                                         "all_reduce/ring", "all_reduce/direct", "reduce_scatter",
                                         "all_gather", "all_to_all", "all_gather/gather_hooks",
                                         "reduce_scatter/scatter_hooks", "broadcast", "reduce",
                                         "gather", "scatter", "send_receive",
                                         "send_receive/send_first", "all_to_all_v",
                                         "all_to_all_v/refused", "all_gather_v", "reduce_scatter_v",
                                         "all_reduce/hooks_one_shot", "all_reduce/hooks_two_phase",
                                         "all_reduce/hooks_ring", "all_reduce/one_shot_credits",
                                         "all_reduce/two_phase_credits", "broadcast_credits",
                                         "reduce_credits", "gather_credits", "scatter_credits"),
                         [](const auto& test) { return spelled(test.param); });

// The pad that the check itself asks for: 32 channels, 8 ranks.
TEST(Pad, HasTheChannelsOfPyTorch) {
  const Entry& entry = *find("flip_barrier/channel");
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    Options options = options_for(8, profile, 2);
    options.lanes = 32;
    EXPECT_VERDICT(explore(options, entry.body), certified) << name_of(profile);
  }
}

}  // namespace
}  // namespace muster::check
