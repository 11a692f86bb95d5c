// Ranks on the network fabric of several hosts, of which one dies: survivors are told who is lost,
// and go on with right sums.
#include <gtest/gtest.h>
#include <signal.h>

#include "multihost/jobs_on_hosts.hpp"
#include "multihost/meeting.hpp"

namespace muster::testing {
namespace {

const std::map<std::string, std::string> over_tcp{{"UCX_TLS", "tcp,self"},
                                                  {"UCX_NET_DEVICES", "tun0"},
                                                  {"UCX_WARN_UNUSED_ENV_VARS", "n"},
                                                  {"MUSTER_TOKEN", job_token},
                                                  {"MUSTER_KEEPALIVE", "2"}};

// One rank on each host, by torchrun's variables: no launcher ends those that are left.
Commands start_survivors(const World& world, const std::string& what) {
  Commands ranks;
  for (std::uint32_t rank = 0; rank < world.hosts(); ++rank) {
    CommandOptions options;
    options.environment = over_tcp;
    options.environment.insert({{"RANK", std::to_string(rank)},
                                {"WORLD_SIZE", std::to_string(world.hosts())},
                                {"LOCAL_WORLD_SIZE", "1"},
                                {"MASTER_ADDR", World::address(0)},
                                {"MASTER_PORT", "29400"}});
    ranks.push_back(
        std::make_unique<Command>(world.on(rank, {MUSTER_SURVIVOR, what, "2000"}), options));
  }
  return ranks;
}

class UcxOnABrokenWire : public ::testing::TestWithParam<const char*> {
 protected:
  // All but the lost one say so by their error, and go on.
  static void expect_survived(const Commands& ranks, std::uint32_t lost, double within) {
    const auto begin = net::Clock::now();
    const auto others = static_cast<std::uint32_t>(ranks.size());
    for (std::uint32_t rank = 0; rank < others; ++rank) {
      if (rank == lost) continue;
      const std::string said = "rank " + std::to_string(rank) + ": ";
      EXPECT_TRUE(ranks[rank]->has_written(said + "peer_lost")) << ranks[rank]->out();
      EXPECT_EQ(count(ranks[rank]->out(), "peer " + std::to_string(lost)), 1) << ranks[rank]->out();
    }
    EXPECT_LT(seconds_since(begin), within);
    for (std::uint32_t rank = 0; rank < others; ++rank) {
      if (rank == lost) continue;
      EXPECT_EQ(ranks[rank]->wait(), 0) << ranks[rank]->out() << ranks[rank]->err();
      EXPECT_EQ(count(ranks[rank]->out(),
                      ": sum " + std::to_string(others - 1) + " of " + std::to_string(others - 1)),
                1)
          << ranks[rank]->out();
    }
  }
};

TEST_P(UcxOnABrokenWire, ARankThatIsKilledIsToldWithinASecond) {
  NEEDS_WORLD(Wire::relay);
  const World world(3, Wire::relay);
  const Commands ranks = start_survivors(world, GetParam());
  for (const auto& rank : ranks) ASSERT_TRUE(rank->has_written("goes on")) << rank->err();
  ranks[2]->signal(SIGKILL);
  expect_survived(ranks, 2, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Within, UcxOnABrokenWire,
                         ::testing::Values("barrier", "puts", "all_reduce", "reduce_scatter",
                                           "all_gather", "all_to_all", "broadcast"),
                         [](const auto& what) { return what.param; });

}  // namespace
}  // namespace muster::testing
