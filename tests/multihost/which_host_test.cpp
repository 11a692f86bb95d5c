// Which ranks are on one host: by what they can hand to each other, not by names.
#include <gtest/gtest.h>

#include "multihost/jobs_on_hosts.hpp"

namespace muster::testing {
namespace {

void expect_hosts(const Commands& nodes, std::uint32_t ranks, const std::string& hosts) {
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string line = "rank " + std::to_string(rank) + ": hosts" + hosts + "\n";
    EXPECT_EQ(count(all_out(nodes), line), 1) << line << all_out(nodes);
  }
}

TEST(WhichHost, RanksOfHostsAreParted) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  expect_hosts(start_nodes(world, {MUSTER_GATHERER, "hosts"}), 3, " 0 1 2");
  expect_hosts(start_nodes(world, {MUSTER_GATHERER, "hosts"}, {.ranks_per_host = 2}), 6,
               " 0 0 1 1 2 2");
}

// Hosts that have one name are two all the same.
TEST(WhichHost, NamesMakeNoHost) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  for (const std::uint32_t host : {0U, 1U})
    EXPECT_EQ(Command(world.on(host, {"hostname", "same"})).wait(), 0);
  expect_hosts(start_nodes(world, {MUSTER_GATHERER, "hosts"}), 2, " 0 1");
}

// Two launchers in one network namespace: one host, whatever its UTS and IPC namespaces are.
TEST(WhichHost, NamespacesThatPartNoDescriptorsMakeNoHosts) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  Commands nodes;
  for (const std::uint32_t node : {0U, 1U, 2U}) {
    const std::uint32_t host = node == 2 ? 1 : 0;
    Words apart;
    if (node == 1)
      apart = {"unshare",
               "--uts",
               "--ipc",
               "--mount",
               "sh",
               "-c",
               "hostname elsewhere; mount -t tmpfs none /dev/shm; exec \"$@\"",
               "sh"};
    CommandOptions options;
    options.environment = {{"MUSTER_TOKEN", job_token}};
    nodes.push_back(std::make_unique<Command>(
        world.on(host, apart + Words{MUSTER_PROGRAM, "run", "--rendezvous", "10.77.0.1:29500",
                                     "--node", std::to_string(node), "--nodes", "3", "-n", "2",
                                     MUSTER_GATHERER, "hosts"}),
        options));
  }
  expect_hosts(nodes, 6, " 0 0 0 0 1 1");
}

// Ranks of one launcher that are in network namespaces of their own are hosts of their own.
TEST(WhichHost, ANetworkNamespaceOfItsOwnMakesAHost) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Words apart{"sh", "-c",
                    "[ $MUSTER_LOCAL_RANK = 1 ] && exec unshare --net \"$@\"; exec \"$@\"", "sh"};
  expect_hosts(start_nodes(world, apart + Words{MUSTER_GATHERER, "hosts"}, {.ranks_per_host = 3}),
               6, " 0 1 0 2 3 2");
}

// Another user's ranks cannot be handed anything.
TEST(WhichHost, AnotherUserMakesAHost) {
  NEEDS_WORLD(Wire::bridge);
  if (getuid() != 0) GTEST_SKIP() << "SKIPPED: only root can start ranks as another user";
  const World world(2, Wire::bridge);
  const Words other{
      "sh", "-c",
      "[ $MUSTER_LOCAL_RANK = 1 ] && exec setpriv --reuid=65534 --clear-groups \"$@\"; exec \"$@\"",
      "sh"};
  expect_hosts(start_nodes(world, other + Words{MUSTER_GATHERER, "hosts"}, {.ranks_per_host = 2}),
               4, " 0 1 2 3");
}

}  // namespace
}  // namespace muster::testing
