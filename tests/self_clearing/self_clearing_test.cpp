// The answers of docs/self_clearing.md.
#include <gtest/gtest.h>

#include "muster/check.hpp"

namespace muster::check {
namespace {

TEST(SelfClearing, EveryVariantInEveryProfile) {
  std::size_t variants = 0;
  for (const Entry& entry : registry()) {
    if (entry.name.substr(0, 14) != "self_clearing/") continue;
    ++variants;
    for (std::uint32_t ranks = 2; ranks <= 4; ++ranks) {
      for (const Profile profile :
           {Profile::rdma, Profile::direct, Profile::sc, Profile::noncoherent}) {
        Options options;
        options.ranks = ranks;
        options.calls = entry.protocol.calls;
        options.profile = profile;
        const Report report = explore(options, entry.body);
        const auto where =
            entry.name + ", " + std::to_string(ranks) + " ranks, " + name_of(profile);
        const bool caches_alone = entry.protocol.fails == Kind::noncoherent;
        if (!entry.protocol.fails || (caches_alone && profile != Profile::noncoherent)) {
          EXPECT_EQ(report.verdict, Verdict::certified) << where << ": " << report.why_search;
          continue;
        }
        EXPECT_EQ(report.verdict, Verdict::refuted) << where;
        EXPECT_TRUE(report.has(*entry.protocol.fails)) << where;
      }
    }
  }
  EXPECT_EQ(variants, 16U);
}

// The next call's deposit is wiped, and then waited for for ever, with two ranks already.
TEST(SelfClearing, SettingZeroWithoutABarrierBehindItIsAClobberAndThenADeadlock) {
  const Entry* entry = find("self_clearing/reduce_scatter_bare_set_zero_late");
  ASSERT_NE(entry, nullptr);
  for (const Profile profile :
       {Profile::rdma, Profile::direct, Profile::sc, Profile::noncoherent}) {
    Options options;
    options.ranks = 2;
    options.calls = 2;
    options.profile = profile;
    const Report report = explore(options, entry->body);
    EXPECT_TRUE(report.has(Kind::clobber)) << name_of(profile);
    EXPECT_TRUE(report.has(Kind::deadlock)) << name_of(profile);
  }
}

}  // namespace
}  // namespace muster::check
