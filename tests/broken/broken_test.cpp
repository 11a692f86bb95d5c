// Each broken protocol is caught with the kind that it names, and each corrected twin passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "muster/check.hpp"

namespace muster::check {
namespace {

Options options_of(const Entry& entry, std::uint32_t ranks, Profile profile) {
  Options options;
  options.ranks = ranks;
  options.calls = entry.protocol.calls;
  options.lanes = entry.protocol.lanes;
  options.threads = entry.protocol.threads;
  options.tasks = entry.protocol.tasks;
  options.expire = entry.protocol.expire;
  options.profile = profile;
  options.place = *placement_of(entry.protocol.place);
  options.rules = entry.protocol.rules;
  return options;
}

// Where it must fail; what is wrong with caches alone is so on no other profile.
Profile fails_on(const Entry& entry) {
  return entry.protocol.fails == Kind::noncoherent ? Profile::noncoherent : entry.protocol.weakest;
}

std::vector<Profile> profiles_of(const Entry& entry) {
  std::vector<Profile> all;
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc})
    if (profile >= entry.protocol.weakest) all.push_back(profile);
  if (entry.protocol.noncoherent) all.push_back(Profile::noncoherent);
  return all;
}

std::string told(const Report& report) {
  std::string text = name_of(report.verdict);
  for (const Finding& finding : report.findings)
    text += std::string("\n  ") + name_of(finding.kind) + ": " + finding.what;
  return text + (report.bound.empty() ? "" : "\n  " + report.bound);
}

std::vector<Entry> entries(bool broken) {
  std::vector<Entry> result;
  for (const Entry& entry : registry())
    if (entry.protocol.fails.has_value() == broken && entry.name.starts_with("broken/") &&
        entry.name.find("/renamed_") == std::string::npos)
      result.push_back(entry);
  return result;
}

std::string test_name(const testing::TestParamInfo<Entry>& entry) {
  return entry.param.name.substr(entry.param.name.find('/') + 1);
}

[[maybe_unused]] void PrintTo(const Entry& entry, std::ostream* out) {
  *out << entry.name;
}

class Broken : public testing::TestWithParam<Entry> {};
class Fixed : public testing::TestWithParam<Entry> {};

TEST_P(Broken, IsCaughtWithItsKind) {
  const Entry& entry = GetParam();
  const auto start = std::chrono::steady_clock::now();
  const Report report =
      explore(options_of(entry, entry.protocol.ranks, fails_on(entry)), entry.body);
  EXPECT_EQ(report.verdict, Verdict::refuted) << told(report);
  EXPECT_TRUE(report.has(*entry.protocol.fails)) << told(report);
  EXPECT_FALSE(report.replay.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// In every profile that it claims, for two ranks to four; by itself where it is one rank's alone.
TEST_P(Fixed, Passes) {
  const Entry& entry = GetParam();
  const bool alone = entry.protocol.ranks == 1;
  for (std::uint32_t ranks = alone ? 1 : 2; ranks <= (alone ? 1U : 4U); ++ranks) {
    for (const Profile profile : profiles_of(entry)) {
      const Report report = explore(options_of(entry, ranks, profile), entry.body);
      EXPECT_TRUE(report.verdict == Verdict::certified || report.verdict == Verdict::complete)
          << ranks << " ranks, " << name_of(profile) << ": " << told(report);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Broken, testing::ValuesIn(entries(true)), test_name);
INSTANTIATE_TEST_SUITE_P(All, Fixed, testing::ValuesIn(entries(false)), test_name);

// The faults that a stronger profile forgives, and those that it does not.
TEST(BrokenByProfile, DirectForgivesTransfersInFlight) {
  const std::set<std::string> forgiven{
      "broken/put_to_third_rank",           "broken/two_unordered_puts",
      "broken/one_counter_for_put_signals", "broken/counter_barrier_without_flush",
      "broken/dissemination_without_flush", "broken/take_back_in_flight",
      "broken/other_lane_in_flight",        "broken/put_signal_deposit_not_carried",
      "broken/put_signals_unordered",       "broken/notify_to_third_rank",
      "broken/slot_answer_relaxed",         "broken/put_completed_not_flushed",
      "broken/flush_of_another_peer",       "broken/part_carries_its_own",
      "broken/one_lane_speaks_for_all",
  };
  for (const Entry& entry : entries(true)) {
    const Report report =
        explore(options_of(entry, entry.protocol.ranks, Profile::direct), entry.body);
    const bool coherent = fails_on(entry) == Profile::noncoherent;
    EXPECT_EQ(report.good(), coherent || forgiven.contains(entry.name))
        << entry.name << ": " << told(report);
  }
}

// A verdict is a property of the body: the same protocols with other names of files, protocols,
// windows and variables get the same verdicts, the same kinds and the same executions.
TEST(BrokenByName, RenamingChangesNoVerdict) {
  std::size_t compared = 0;
  for (const Entry& entry : registry()) {
    if (!entry.name.starts_with("broken/") || entry.name.starts_with("broken/renamed_")) continue;
    const Entry* other = find("broken/renamed_" + entry.name.substr(entry.name.find('/') + 1));
    ASSERT_NE(other, nullptr) << entry.name;
    ++compared;
    for (const Profile profile : profiles_of(entry)) {
      const Options options = options_of(entry, entry.protocol.ranks, profile);
      const Report one = explore(options, entry.body);
      const Report two = explore(options, other->body);
      EXPECT_EQ(one.verdict, two.verdict) << entry.name;
      EXPECT_EQ(one.executions, two.executions) << entry.name;
      EXPECT_EQ(one.replay, two.replay) << entry.name;
      ASSERT_EQ(one.findings.size(), two.findings.size()) << entry.name;
      for (std::size_t i = 0; i < one.findings.size(); ++i)
        EXPECT_EQ(one.findings[i].kind, two.findings[i].kind) << entry.name;
    }
  }
  EXPECT_EQ(compared, entries(true).size() + entries(false).size());
}

TEST(BrokenByName, EveryProtocolHasItsTwin) {
  for (const Entry& entry : entries(true)) {
    const Entry* twin = find(entry.name + "_fixed");
    ASSERT_NE(twin, nullptr) << entry.name;
    EXPECT_EQ(twin->protocol.calls, entry.protocol.calls);
    EXPECT_EQ(twin->protocol.lanes, entry.protocol.lanes);
  }
  EXPECT_GE(entries(true).size(), 45U);
}

}  // namespace
}  // namespace muster::check
