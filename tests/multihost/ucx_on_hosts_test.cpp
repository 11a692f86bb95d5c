// The conformance bodies on the network fabric, between hosts: ranks find each other by their
// launchers, and everything else they say to each other goes over UCX.
#include <gtest/gtest.h>

#include "multihost/jobs_on_hosts.hpp"

namespace muster::testing {
namespace {

struct Shape {
  std::uint32_t hosts;
  std::uint32_t per_host;
};

// Of the bodies those of transfers, which take seconds.
class UcxOnHosts : public ::testing::TestWithParam<Shape> {};

TEST_P(UcxOnHosts, BodiesPassAndTheirBytesCrossTheWire) {
  NEEDS_WORLD(Wire::bridge);
  const auto [hosts, per_host] = GetParam();
  const World world(hosts, Wire::bridge);
  std::vector<World::Traffic> before;
  for (std::uint32_t host = 0; host < hosts; ++host) before.push_back(world.traffic(host));
  // lo is there on each host and leads to no other.
  const Commands nodes =
      start_nodes(world, {MUSTER_UCX_TEST, "--gtest_filter=transfer_hosts.*", "--gtest_brief=1"},
                  {.ranks_per_host = per_host,
                   .run = {"--timeout", "150", "--grace", "1"},
                   .environment = {{"UCX_TLS", "tcp,self"},
                                   {"UCX_NET_DEVICES", "eth0"},
                                   {"UCX_WARN_UNUSED_ENV_VARS", "n"}}});
  int passed = 0;
  for (const auto& node : nodes) {
    EXPECT_TRUE(eventually([&] { return has_ended(node->pid()); }));
    EXPECT_EQ(node->wait(), 0) << node->out() << node->err();
    passed += count(node->out(), "[  PASSED  ]");
  }
  EXPECT_EQ(passed, hosts * per_host);
  constexpr std::uint64_t least = 100'000;  // far more than it takes to find each other
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const World::Traffic now = world.traffic(host);
    EXPECT_GT(now.sent - before[host].sent, least) << host;
    EXPECT_GT(now.received - before[host].received, least) << host;
  }
}

std::string name_of(const ::testing::TestParamInfo<Shape>& shape) {
  return std::to_string(shape.param.hosts) + "Hosts" + std::to_string(shape.param.per_host) +
         "RanksEach";
}

INSTANTIATE_TEST_SUITE_P(Hosts, UcxOnHosts,
                         ::testing::Values(Shape{2, 1}, Shape{2, 2}, Shape{3, 1}, Shape{3, 2},
                                           Shape{4, 1}, Shape{4, 2}),
                         name_of);

}  // namespace
}  // namespace muster::testing
