// What is between hosts fails while ranks find each other: nobody hangs, and each is told in time.
#include <gtest/gtest.h>
#include <signal.h>

#include "multihost/jobs_on_hosts.hpp"
#include "multihost/meeting.hpp"

namespace muster::testing {
namespace {

constexpr double keepalive_s = 2;
const std::map<std::string, std::string> short_keepalive{{"MUSTER_KEEPALIVE", "2"}};

TEST(BrokenWire, DelayReorderingAndLossChangeNoBytes) {
  NEEDS_WORLD(Wire::relay);
  World world(3, Wire::relay);
  for (const char* fault : {"delay", "reorder", "loss"}) {
    SCOPED_TRACE(fault);
    const std::string number = fault == std::string("delay") ? " 20" : " 10";
    world.tell_relay(fault + std::string(" 0 1") + number);
    world.tell_relay(fault + std::string(" 0 2") + number);
  }
  const Commands nodes =
      start_nodes(world, {MUSTER_GATHERER, "bytes", "50000"}, {.ranks_per_host = 2});
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
  expect_gathered(all_out(nodes), 3, 2);
}

// Every packet of a host that has vanished is lost: nothing says so but that nothing comes.
TEST(BrokenWire, AHostThatVanishesIsToldWithinTheKeepalive) {
  NEEDS_WORLD(Wire::relay);
  for (const std::uint32_t gone : {0U, 2U}) {
    SCOPED_TRACE(gone);
    World world(3, Wire::relay);
    const Commands nodes = start_nodes(world, {MUSTER_GATHERER, "rounds", "100", "stays", "200"},
                                       {.run = {"--grace", "0.5"}, .environment = short_keepalive});
    for (const auto& node : nodes) ASSERT_TRUE(node->has_written("has round 1")) << node->err();
    world.tell_relay("vanish " + std::to_string(gone));
    const auto begin = net::Clock::now();
    for (std::uint32_t host = 0; host < 3; ++host)
      EXPECT_NE(nodes[host]->wait(), 0) << nodes[host]->err();
    EXPECT_LT(seconds_since(begin), keepalive_s + 3);
    for (std::uint32_t host = 0; host < 3; ++host) {
      if (host == gone) continue;
      // Whom the hub cannot reach any more, the hub names; where the hub is gone, each sees it.
      EXPECT_GE(count(nodes[host]->err(), "node " + std::to_string(gone) + " on h" +
                                              std::to_string(gone) + " is not reached any more"),
                1)
          << nodes[host]->err();
      EXPECT_EQ(count(nodes[host]->err(), "peer_lost: node " + std::to_string(gone)), 1)
          << nodes[host]->err();
    }
  }
}

// Where the ranks themselves are the members, as under torchrun.
TEST(BrokenWire, AHostOfRanksThatMeetByThemselvesVanishes) {
  NEEDS_WORLD(Wire::relay);
  World world(3, Wire::relay);
  Commands ranks;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    CommandOptions options;
    options.environment = {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "3"},
                           {"LOCAL_WORLD_SIZE", "1"},      {"MASTER_ADDR", World::address(0)},
                           {"MASTER_PORT", "29400"},       {"MUSTER_TOKEN", job_token},
                           {"MUSTER_KEEPALIVE", "2"}};
    ranks.push_back(std::make_unique<Command>(
        world.on(rank, {MUSTER_GATHERER, "rounds", "100", "stays", "100"}), options));
  }
  for (const auto& rank : ranks) ASSERT_TRUE(rank->has_written("has round 1")) << rank->err();
  world.tell_relay("vanish 1");
  const auto begin = net::Clock::now();
  for (const std::uint32_t rank : {0U, 2U}) {
    EXPECT_EQ(ranks[rank]->wait(), 1);
    EXPECT_EQ(count(ranks[rank]->err(), "peer_lost: rank 1 on h1 is not reached any more"), 1)
        << ranks[rank]->err();
  }
  EXPECT_LT(seconds_since(begin), keepalive_s + 3);
}

TEST(BrokenWire, AHostThatIsNeverReachedIsNamed) {
  NEEDS_WORLD(Wire::relay);
  World world(3, Wire::relay);
  world.tell_relay("cut 0 2");
  const auto begin = net::Clock::now();
  const Commands nodes = start_nodes(world, {MUSTER_GATHERER}, {.run = {"--wait", "2"}});
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 1) << node->err();
  for (const std::uint32_t host : {0U, 1U})
    EXPECT_EQ(count(nodes[host]->err(), "expired: node 2 has not come"), 1) << nodes[host]->err();
  EXPECT_EQ(count(nodes[2]->err(), "expired: node 0 has not come"), 1) << nodes[2]->err();
  EXPECT_LT(seconds_since(begin), 6.0);
}

// A wire that is cut and comes back before the keepalive is over: all goes on.
TEST(BrokenWire, ALinkThatComesBackIsNoLoss) {
  NEEDS_WORLD(Wire::relay);
  World world(2, Wire::relay);
  const Commands nodes = start_nodes(world, {MUSTER_GATHERER, "rounds", "8", "stays", "200"},
                                     {.environment = {{"MUSTER_KEEPALIVE", "20"}}});
  for (const auto& node : nodes) ASSERT_TRUE(node->has_written("has round 1")) << node->err();
  world.tell_relay("cut 0 1");
  Command pause({"sleep", "1"});
  EXPECT_EQ(pause.wait(), 0);
  world.tell_relay("heal 0 1");
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
}

}  // namespace
}  // namespace muster::testing
