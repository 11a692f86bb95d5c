// Ranks started by others: mpirun, srun and torchrun where they are installed and work, and what
// SLURM and torchrun would set.
#include <gtest/gtest.h>

#include <memory>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// `start` starts three ranks of the program that follows it. Twice in turn: the second job must not
// meet the first.
void expect_ranks_to_meet(const std::string& launcher, const Words& start) {
  for (int job = 0; job < 2; ++job) {
    Command command(joined(start, {MUSTER_JOINER}));
    EXPECT_EQ(command.wait(), 0) << command.err();
    for (const char* rank : {"0", "1", "2"}) {
      const std::string line = launcher + ": rank " + rank + " of 3 saw the sum 6\n";
      EXPECT_EQ(count(command.out(), line), 1) << command.out();
    }
  }
}

// Two programs one after the other in the same ranks have the same variables.
void expect_a_second_program_to_meet(const Words& start) {
  const std::string program = MUSTER_RUNNER;
  Command command(joined(start, {"sh", "-c", program + " first && exec " + program + " second"}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(count(command.out(), "first: rank "), 3) << command.out();
  EXPECT_EQ(count(command.out(), "second: rank "), 3) << command.out();
}

// Rank 1 ends with status 0, which neither launcher takes for a failure: the others must see it.
// Then the first of them to fail may be the last to say why, for torchrun ends the rest.
void expect_a_lost_rank_to_be_named(const Words& start) {
  Command command(joined(start, {MUSTER_RUNNER, "lost", "_exit"}));
  EXPECT_GT(command.wait(), 0);
  EXPECT_GE(count(command.err(), ": peer_lost: rank 1 (pid "), 1) << command.err();
}

TEST(OtherLaunchers, SrunOnOneHost) {
  const Words start{"srun", "--immediate=10", "-N", "1", "-n", "3", "--overcommit"};
  const Words if_there{"sh", "-c", "command -v srun && exec \"$@\"", "sh"};
  Command look(joined(joined(if_there, start), {"true"}));
  if (look.wait() != 0) GTEST_SKIP() << "no SLURM takes a step here: " << look.err();
  expect_ranks_to_meet("srun (SLURM)", start);
  expect_a_second_program_to_meet(start);
  expect_a_lost_rank_to_be_named(start);
}

TEST(OtherLaunchers, TorchrunOnOneHost) {
  Command look({"sh", "-c", "command -v torchrun && torchrun --help"});
  if (look.wait() != 0) GTEST_SKIP() << "torchrun is not on the PATH, or torch cannot be imported";
  const Words start{"torchrun", "--standalone", "--nproc-per-node", "3", "--no-python"};
  expect_ranks_to_meet("torchrun", start);
  expect_a_second_program_to_meet(start);
  expect_a_lost_rank_to_be_named(start);
}

TEST(OtherLaunchers, MpirunOnOneHost) {
  Command look({"sh", "-c", "command -v mpirun && mpirun --version | grep -q 'Open MPI'"});
  if (look.wait() != 0) GTEST_SKIP() << "Open MPI's mpirun is not on the PATH";
  // Twice in turn: the second job must not meet the first.
  for (int job = 0; job < 2; ++job) {
    Command command({"mpirun", "--oversubscribe", "-n", "3", MUSTER_JOINER},
                    {.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                     {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}});
    EXPECT_EQ(command.wait(), 0) << command.err();
    for (const char* rank : {"0", "1", "2"}) {
      const std::string line =
          std::string("mpirun (Open MPI): rank ") + rank + " of 3 saw the sum 6\n";
      EXPECT_EQ(count(command.out(), line), 1) << command.out();
    }
  }
}

TEST(OtherLaunchers, TheVariablesOfSlurmAndTorchrun) {
  const std::string own = std::to_string(getpid());
  struct Case {
    std::string name;
    std::string rank;
    std::map<std::string, std::string> variables;
  };
  const std::vector<Case> cases{
      {"srun (SLURM)",
       "SLURM_PROCID",
       {{"SLURM_NTASKS", "3"},
        {"SLURM_JOB_ID", own},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_NNODES", "1"}}},
      {"torchrun", "RANK", {{"WORLD_SIZE", "3"}, {"LOCAL_WORLD_SIZE", "3"}, {"MASTER_PORT", own}}},
  };
  for (const Case& one : cases) {
    std::vector<std::unique_ptr<Command>> ranks;
    for (const char* rank : {"2", "0", "1"}) {
      CommandOptions options{.environment = one.variables};
      options.environment[one.rank] = rank;
      ranks.push_back(std::make_unique<Command>(std::vector<std::string>{MUSTER_JOINER}, options));
    }
    for (const auto& rank : ranks) {
      EXPECT_EQ(rank->wait(), 0) << rank->err();
      EXPECT_EQ(count(rank->out(), one.name + ": rank "), 1) << rank->out();
      EXPECT_EQ(count(rank->out(), " of 3 saw the sum 6\n"), 1) << rank->out();
    }
  }
}

TEST(OtherLaunchers, NobodyStartedAProcessOfItsOwn) {
  Command command({MUSTER_JOINER});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "nobody started this\n");
}

}  // namespace
}  // namespace muster::testing
