// Ranks that others than `muster run` have started find each other.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "multihost/jobs_on_hosts.hpp"
#include "multihost/meeting.hpp"

namespace muster::testing {
namespace {

const std::map<std::string, std::string> as_root{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                                 {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                 {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};

bool has(const std::string& program) {
  return Command({"sh", "-c", "command -v " + program}).wait() == 0;
}

// What torchrun sets for a rank.
std::map<std::string, std::string> by_torchrun(std::uint32_t rank, std::uint32_t hosts,
                                               std::uint32_t per_host) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(hosts * per_host)},
          {"LOCAL_RANK", std::to_string(rank % per_host)},
          {"LOCAL_WORLD_SIZE", std::to_string(per_host)},
          {"GROUP_RANK", std::to_string(rank / per_host)},
          {"MASTER_ADDR", World::address(0)},
          {"MASTER_PORT", "29400"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"MUSTER_TOKEN", job_token}};
}

Commands start_by_torchrun(const World& world, std::uint32_t per_host, const Words& program,
                           const std::map<std::string, std::string>& more = {}) {
  Commands ranks;
  for (std::uint32_t rank = 0; rank < world.hosts() * per_host; ++rank) {
    CommandOptions options;
    options.environment = by_torchrun(rank, world.hosts(), per_host);
    for (const auto& [name, value] : more) options.environment[name] = value;
    ranks.push_back(std::make_unique<Command>(world.on(rank / per_host, program), options));
  }
  return ranks;
}

TEST(Launchers, RanksOfTorchrunMeetAtItsMaster) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Commands ranks = start_by_torchrun(world, 2, {MUSTER_GATHERER});
  for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->err();
  expect_gathered(all_out(ranks), 2, 2);
}

// torchrun's own store has MASTER_PORT then.
TEST(Launchers, RanksOfTorchrunLeaveItsStoreAlone) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Command store(world.on(
      0, {"python3", "-c",
          "import socket\ns=socket.create_server(('10.77.0.1',29400)); print('ready',flush=True)\n"
          "while 1:\n  c=s.accept(); print('disturbed',flush=True)"}));
  ASSERT_TRUE(store.has_written("ready")) << store.err();
  const Commands ranks =
      start_by_torchrun(world, 1, {MUSTER_GATHERER}, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->err();
  expect_gathered(all_out(ranks), 2, 1);
  EXPECT_EQ(store.out(), "ready\n");
}

TEST(Launchers, ARankOfTorchrunThatNeverComesIsNamedWithItsNode) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  Commands ranks = start_by_torchrun(world, 2, {MUSTER_GATHERER, "absent", "3", "join", "5000"});
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks[rank]->wait(), 1);
    EXPECT_EQ(count(ranks[rank]->err(), "expired: rank 3 of node 1 has not come"), 1)
        << ranks[rank]->err();
  }
}

TEST(Launchers, WithoutATokenRanksOfSeveralHostsDoNotMeet) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  const Commands ranks =
      start_by_torchrun(world, 1, {"env", "-u", "MUSTER_TOKEN", MUSTER_GATHERER});
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->wait(), 1);
    EXPECT_EQ(count(rank->err(), "set MUSTER_TOKEN"), 1) << rank->err();
  }
}

TEST(Launchers, RanksOfOneHostNeedNoTokenAndNoPort) {
  const Command alone({MUSTER_GATHERER});
  for (const Words& launcher :
       {Words{MUSTER_PROGRAM, "run", "-n", "3"}, Words{"mpirun", "--oversubscribe", "-n", "3"}}) {
    if (!has(launcher.front())) continue;
    Command job(launcher + Words{MUSTER_GATHERER}, {.environment = as_root});
    EXPECT_EQ(job.wait(), 0) << job.err();
    EXPECT_EQ(count(job.out(), " of 3 on "), 3) << job.out();
  }
}

// Open MPI's daemons are started on the hosts by a script in the place of ssh.
Words mpirun_on(const World& world, std::uint32_t per_host) {
  std::string hosts;
  std::string script = "h=$1; shift; case $h in";
  for (std::uint32_t host = 0; host < world.hosts(); ++host) {
    hosts += (host == 0 ? "" : ",") + World::address(host) + ":" + std::to_string(per_host);
    script += " " + World::address(host) + ") ";
    for (const std::string& word : world.on(host, {})) script += word + " ";
    script += "sh -c \"$*\";;";
  }
  const std::string path = ::testing::TempDir() + "muster_agent_" + std::to_string(getpid());
  std::ofstream(path) << "#!/bin/sh\n" << script << " esac\n";
  chmod(path.c_str(), 0700);
  return world.on(
      0, {"mpirun", "--mca", "plm_rsh_agent", path, "--mca", "oob_tcp_if_include", "10.77.0.0/24",
          "--mca", "routed", "direct", "--oversubscribe", "--host", hosts, "-n",
          std::to_string(per_host * world.hosts()), "--map-by", "node", "--rank-by", "slot"});
}

TEST(Launchers, RanksOfMpirunOnSeveralHostsMeetByPmix) {
  NEEDS_WORLD(Wire::bridge);
  if (!has("mpirun")) GTEST_SKIP() << "SKIPPED: mpirun is not on the PATH";
  const World world(2, Wire::bridge);
  Command job(mpirun_on(world, 2) + Words{MUSTER_GATHERER, "bytes", "5000"},
              {.environment = as_root});
  EXPECT_EQ(job.wait(), 0) << job.err();
  expect_gathered(job.out(), 2, 2);
}

TEST(Launchers, ARankOfMpirunThatIsLateIsNamedWithItsHost) {
  NEEDS_WORLD(Wire::bridge);
  if (!has("mpirun")) GTEST_SKIP() << "SKIPPED: mpirun is not on the PATH";
  const World world(2, Wire::bridge);
  Command job(mpirun_on(world, 1) + Words{MUSTER_GATHERER, "late", "1", "1", "within", "1000"},
              {.environment = as_root});
  EXPECT_NE(job.wait(), 0);
  EXPECT_EQ(count(job.err(), "expired: rank 1 on "), 1) << job.err();
  EXPECT_EQ(count(job.err(), "has not come within 1 s"), 1) << job.err();
}

TEST(Launchers, WithoutPmixRanksOfSrunAreToldWhatIsMissing) {
  CommandOptions options;
  options.environment = {{"SLURM_PROCID", "0"},         {"SLURM_STEP_ID", "0"},
                         {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NUM_NODES", "2"},
                         {"SLURM_JOB_ID", "7"},         {"SLURM_STEP_NODELIST", "n[1-2]"}};
  Command rank({MUSTER_GATHERER}, options);
  EXPECT_EQ(rank.wait(), 1);
  EXPECT_EQ(count(rank.err(), "srun --mpi=pmix"), 1) << rank.err();
}

TEST(Launchers, RanksOfSrunWithoutPmixMeetAtAnAddressThatIsGiven) {
  NEEDS_WORLD(Wire::bridge);
  const World world(2, Wire::bridge);
  Commands ranks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    CommandOptions options;
    options.environment = {{"SLURM_PROCID", std::to_string(rank)},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "2"},
                           {"SLURM_STEP_NUM_NODES", "2"},
                           {"SLURM_JOB_ID", "7"},
                           {"MASTER_ADDR", World::address(0)},
                           {"MASTER_PORT", "29400"},
                           {"MUSTER_TOKEN", job_token}};
    ranks.push_back(std::make_unique<Command>(world.on(rank, {MUSTER_GATHERER}), options));
  }
  for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->err();
  expect_gathered(all_out(ranks), 2, 1);
}

}  // namespace
}  // namespace muster::testing
