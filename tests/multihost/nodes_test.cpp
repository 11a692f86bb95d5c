// `muster run --rendezvous` on several hosts.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "multihost/jobs_on_hosts.hpp"
#include "multihost/meeting.hpp"

namespace muster::testing {
namespace {

TEST(Nodes, FindEachOtherAndTheirBytesCrossTheWire) {
  NEEDS_WORLD(Wire::bridge);
  for (const std::uint32_t hosts : {2U, 3U, 4U}) {
    const World world(hosts, Wire::bridge);
    for (const std::uint32_t per_host : {1U, 2U}) {
      SCOPED_TRACE(std::to_string(hosts) + " hosts of " + std::to_string(per_host));
      std::vector<World::Traffic> before;
      for (std::uint32_t host = 0; host < hosts; ++host) before.push_back(world.traffic(host));
      constexpr std::uint32_t bytes = 20'000;
      const Commands nodes = start_nodes(world, {MUSTER_GATHERER, "bytes", std::to_string(bytes)},
                                         {.ranks_per_host = per_host});
      for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
      expect_gathered(all_out(nodes), hosts, per_host);
      // What a host's ranks brought has left it, and what all others brought has come: three times.
      for (std::uint32_t host = 0; host < hosts; ++host) {
        const World::Traffic now = world.traffic(host);
        const std::uint64_t own = 3ULL * per_host * bytes;
        EXPECT_GT(now.sent - before[host].sent, own) << host;
        EXPECT_GT(now.received - before[host].received, (hosts - 1) * own) << host;
      }
    }
  }
}

TEST(Nodes, HaveRanksOfTheirOwnNumber) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Words program{"sh", "-c",
                      "echo rank $MUSTER_RANK of $MUSTER_RANKS, $MUSTER_LOCAL_RANK of "
                      "$MUSTER_LOCAL_RANKS on $(hostname) token=$MUSTER_TOKEN."};
  Commands nodes;
  nodes.push_back(start_node(world, 0, 2, program, {.ranks_per_host = 1}));
  nodes.push_back(start_node(world, 1, 2, program, {.ranks_per_host = 2, .run = {"--tag-output"}}));
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
  EXPECT_EQ(nodes[0]->out(), "rank 0 of 3, 0 of 1 on h0 token=.\n");
  for (const char* line :
       {"[1] rank 1 of 3, 0 of 2 on h1 token=.\n", "[2] rank 2 of 3, 1 of 2 on h1 token=.\n"})
    EXPECT_EQ(count(nodes[1]->out(), line), 1) << nodes[1]->out();
}

TEST(Nodes, AllEndWithTheStatusOfTheRankThatFailed) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  for (const std::uint32_t failing : {0U, 3U}) {
    const Commands nodes = start_nodes(
        world,
        {"sh", "-c",
         "[ $MUSTER_RANK = " + std::to_string(failing) + " ] && exit 7; exec sleep 300"},
        {.ranks_per_host = 2, .run = {"--grace", "0.2"}});
    for (const auto& node : nodes) EXPECT_EQ(node->wait(), 7) << node->err();
    const std::string line = "muster: rank " + std::to_string(failing) + " exited with code 7";
    EXPECT_EQ(count(all_err(nodes), line), 3) << all_err(nodes);
    EXPECT_EQ(count(all_err(nodes), line + " (on " + World::name(failing / 2) + ")"), 2)
        << all_err(nodes);
  }
}

TEST(Nodes, ARankThatDiesWithinAnExchangeIsNamedToAll) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  const Commands nodes = start_nodes(world, {MUSTER_GATHERER, "dies", "5", "1"},
                                     {.ranks_per_host = 2, .run = {"--grace", "2"}});
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 128 + SIGKILL) << node->err();
  EXPECT_EQ(count(all_err(nodes), "peer_lost: rank 5 on h2 has ended"), 5) << all_err(nodes);
}

TEST(Nodes, ARankThatIsLateIsNamedToAll) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const auto begin = net::Clock::now();
  const Commands nodes = start_nodes(world, {MUSTER_GATHERER, "late", "2", "1", "within", "700"},
                                     {.ranks_per_host = 2, .run = {"--grace", "0.2"}});
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 1) << node->err();
  EXPECT_EQ(count(all_err(nodes), "expired: rank 2 on h1 has not come within 0.7 s"), 3)
      << all_err(nodes);
  EXPECT_LT(seconds_since(begin), 10.0);
}

TEST(Nodes, PassSignalsOnToAllRanksOfAllHosts) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  for (const std::uint32_t told : {0U, 2U}) {
    const Commands nodes = start_nodes(
        world, {"sh", "-c", "trap 'echo got USR1.' USR1; echo ready; while :; do sleep 0.05; done"},
        {.ranks_per_host = 2});
    for (const auto& node : nodes) ASSERT_TRUE(node->has_written("ready", 2)) << node->err();
    nodes[told]->signal(SIGUSR1);
    for (const auto& node : nodes) EXPECT_TRUE(node->has_written("got USR1.", 2));
    nodes[told]->signal(SIGINT);
    for (const auto& node : nodes) EXPECT_EQ(node->wait(), 128 + SIGINT) << node->err();
    EXPECT_EQ(count(all_out(nodes), "got USR1."), 6);
  }
}

TEST(Nodes, ASecondInterruptKillsAllRanksOfAllHosts) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Commands nodes = start_nodes(
      world, {"sh", "-c", "trap 'echo got INT.' INT; echo ready; while :; do sleep 0.05; done"});
  for (const auto& node : nodes) ASSERT_TRUE(node->has_written("ready")) << node->err();
  nodes[1]->signal(SIGINT);
  for (const auto& node : nodes) ASSERT_TRUE(node->has_written("got INT.")) << node->err();
  nodes[1]->signal(SIGINT);
  for (const auto& node : nodes) {
    EXPECT_EQ(node->wait(), 130);
    EXPECT_EQ(count(node->err(), "interrupted again; killing 1 rank"), 1) << node->err();
  }
}

TEST(Nodes, ALauncherThatIsKilledEndsTheJobOnAllHosts) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  for (const std::uint32_t killed : {0U, 1U}) {
    const Commands nodes =
        start_nodes(world, {"sh", "-c", "echo ready; exec sleep 300"}, {.run = {"--grace", "0.2"}});
    for (const auto& node : nodes) ASSERT_TRUE(node->has_written("ready")) << node->err();
    const auto begin = net::Clock::now();
    nodes[killed]->signal(SIGKILL);
    for (std::uint32_t host = 0; host < 3; ++host) {
      EXPECT_EQ(nodes[host]->wait(), host == killed ? 137 : 1) << nodes[host]->err();
      const std::string line = "muster: node " + std::to_string(killed) + " on " +
                               World::name(killed) + " has closed its connection";
      EXPECT_EQ(count(nodes[host]->err(), line), host == killed ? 0 : 1) << nodes[host]->err();
    }
    EXPECT_LT(seconds_since(begin), 5.0);
  }
}

TEST(Nodes, ATimeLimitOfOneHostEndsTheJobOnAll) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  Commands nodes;
  nodes.push_back(start_node(world, 0, 2, {"sleep", "300"}, {.run = {"--grace", "0.2"}}));
  nodes.push_back(start_node(world, 1, 2, {"sleep", "300"}, {.run = {"--timeout", "0.5"}}));
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 124) << node->err();
  EXPECT_EQ(count(nodes[0]->err(), "muster: time limit of 0.5 s reached (on h1)"), 1)
      << nodes[0]->err();
}

TEST(Nodes, ANodeThatNeverComesIsNamed) {
  NEEDS_WORLD(Wire::bridge);
  const World world(3, Wire::bridge);
  Commands nodes;
  for (const std::uint32_t host : {0U, 1U})
    nodes.push_back(start_node(world, host, 3, {"true"}, {.run = {"--wait", "1"}}));
  for (const auto& node : nodes) {
    EXPECT_EQ(node->wait(), 1);
    EXPECT_EQ(count(node->err(),
                    "muster run: expired: node 2 has not come to 10.77.0.1:29500 "
                    "within 1 s"),
              1)
        << node->err();
  }
}

TEST(Nodes, TwoJobsOnOnePortDoNotMeet) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const JobOptions other{.environment = {{"MUSTER_TOKEN", "a token of another job: 99999999"}}};
  Commands first;
  first.push_back(start_node(world, 0, 2, {MUSTER_GATHERER}));
  Command listens(world.on(0, {"sh", "-c", "until ss -ltn | grep -q :29500; do sleep 0.01; done"}));
  ASSERT_EQ(listens.wait(), 0);
  Commands second;
  for (const std::uint32_t host : {0U, 1U})
    second.push_back(start_node(world, host, 2, {MUSTER_GATHERER}, other));
  EXPECT_EQ(second[0]->wait(), 1);
  EXPECT_EQ(count(second[0]->err(), "another process listens at 10.77.0.1:29500"), 1)
      << second[0]->err();
  EXPECT_EQ(second[1]->wait(), 1);
  EXPECT_EQ(count(second[1]->err(), "another job listens there"), 1) << second[1]->err();
  first.push_back(start_node(world, 1, 2, {MUSTER_GATHERER}));
  for (const auto& node : first) EXPECT_EQ(node->wait(), 0) << node->err();
  expect_gathered(all_out(first), 2, 1);
}

TEST(Nodes, JobsFollowEachOtherOnOnePort) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  for (int job = 0; job < 4; ++job) {
    const Commands nodes = start_nodes(world, {MUSTER_GATHERER});
    for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
  }
}

TEST(Nodes, TakeTheTokenFromAFileThatNobodyElseMayRead) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const std::string path = ::testing::TempDir() + "muster_token_" + std::to_string(getpid());
  std::ofstream(path) << job_token << "\n";
  const JobOptions options{.run = {"--token-file", path}, .environment = {{"MUSTER_TOKEN", "x"}}};
  for (const auto mode : {0640, 0600}) {
    ASSERT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    const Commands nodes = start_nodes(world, {MUSTER_GATHERER}, options);
    for (const auto& node : nodes) {
      EXPECT_EQ(node->wait(), mode == 0600 ? 0 : 2) << node->err();
      EXPECT_EQ(count(node->err(), "chmod 600"), mode == 0600 ? 0 : 1) << node->err();
    }
  }
  unlink(path.c_str());
}

void expect_refused(const Words& words, const std::string& what,
                    const std::string& token = job_token) {
  CommandOptions options;
  options.environment = {{"MUSTER_TOKEN", token}};
  Command command(Words{MUSTER_PROGRAM, "run"} + words + Words{"true"}, options);
  EXPECT_EQ(command.wait(), 2);
  EXPECT_EQ(lines_of(command.err()).at(0), "muster run: " + what);
}

TEST(Nodes, ACommandLineThatCannotBeMeantIsRefused) {
  const std::string together =
      "--rendezvous, --node and --nodes come together: where the hosts of the job meet, which one "
      "this is, counted from 0, and of how many";
  expect_refused({"--node", "0", "--nodes", "2"}, together);
  expect_refused({"--rendezvous", "h:1"}, together);
  expect_refused({"--rendezvous", "h:1", "--node", "1", "--nodes", "1"}, together);
  expect_refused({"--rendezvous", "h:1", "--nodes", "2"},
                 "--rendezvous needs --node and --nodes: which host this is, and of how many");
  expect_refused({"--rendezvous", "h:1", "--node", "2", "--nodes", "2"},
                 "--node is '2'; it must be a whole number from 0 to 1");
  expect_refused({"--rendezvous", "h:1", "--node", "0", "--nodes", "0"},
                 "--nodes is '0'; it must be a whole number from 1 to 65536");
  for (const char* place : {"h", "h:", ":1", "h:0", "h:65536", "h:1x", "::1:29500"})
    expect_refused(
        {"--rendezvous", place, "--node", "0", "--nodes", "2"},
        std::string("\"") + place +
            "\" is no HOST:PORT, such as node0:29500 or [2001:db8::1]:29500, with a port "
            "from 1 to 65535");
  expect_refused({"--rendezvous", "h:1", "--node", "0", "--nodes", "2"},
                 "the job's token has 5 bytes; it must have at least 16, and be a secret: such as "
                 "what `openssl rand -hex 32` prints",
                 "short");
}

TEST(Nodes, OneHostAloneIsAnOrdinaryJob) {
  Command command({MUSTER_PROGRAM, "run", "--rendezvous", "h:1", "--node", "0", "--nodes", "1",
                   "sh", "-c", "echo $MUSTER_RANK of $MUSTER_RANKS, job=${MUSTER_JOB_FD:+yes}"});
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(count(command.out(), "1 of 2, job=yes\n"), 1) << command.out();
}

// 64 ranks on 4 hosts, from the first process to the end of the last.
TEST(Nodes, SixtyFourRanksStartInSeconds) {
  NEEDS_WORLD(Wire::bridge);
  const World world(4, Wire::bridge);
  const auto begin = net::Clock::now();
  const Commands nodes =
      start_nodes(world, {MUSTER_GATHERER, "rounds", "3"}, {.ranks_per_host = 16});
  for (const auto& node : nodes) EXPECT_EQ(node->wait(), 0) << node->err();
  const double took = seconds_since(begin);
  RecordProperty("seconds", std::to_string(took));
  expect_gathered(all_out(nodes), 4, 16);
  EXPECT_LT(took, 10.0);
}

}  // namespace
}  // namespace muster::testing
