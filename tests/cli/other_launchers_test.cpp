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

// torchrun's variables are left over in the shell that calls mpirun.
TEST(OtherLaunchers, LeftOverVariablesUnderMpirun) {
  Command look({"sh", "-c", "command -v mpirun && mpirun --version | grep -q 'Open MPI'"});
  if (look.wait() != 0) GTEST_SKIP() << "Open MPI's mpirun is not on the PATH";
  const Words words{"mpirun", "--oversubscribe", "-n", "3", MUSTER_RUNNER, "left-over"};
  CommandOptions options{.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                         {"RANK", "0"},
                                         {"WORLD_SIZE", "1"},
                                         {"MASTER_ADDR", "localhost"},
                                         {"MASTER_PORT", "23456"}}};
  Command undecided(words, options);
  EXPECT_EQ(undecided.wait(), 2);
  EXPECT_EQ(undecided.out(), "");
  EXPECT_GE(count(undecided.err(),
                  "they disagree: torchrun says rank 0 of 1 (RANK, WORLD_SIZE); mpirun (Open MPI) "
                  "says rank "),
            1)
      << undecided.err();
  for (const auto& [choice, ranks] : {std::pair{"openmpi", "3"}, std::pair{"torchrun", "1"}}) {
    options.environment["MUSTER_LAUNCHER"] = choice;
    Command decided(words, options);
    EXPECT_EQ(decided.wait(), 0) << decided.err();
    EXPECT_EQ(count(decided.out(), "left-over: rank 0 of " + std::string(ranks)),
              ranks[0] == '3' ? 1 : 3)
        << decided.out();
  }
}

// In `muster run` everything around it is known to be around it; what stands inside is not.
TEST(OtherLaunchers, VariablesAroundMusterRunAndWithinIt) {
  const Words words = joined(muster({"run", "-n", "2"}), {MUSTER_RUNNER, "around"});
  const std::map<std::string, std::string> around{
      {"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "23456"}};
  Command well(words, {.environment = around});
  EXPECT_EQ(well.wait(), 0) << well.err();
  EXPECT_EQ(count(well.out(), " of 2\n"), 2) << well.out();

  const std::string inner = "RANK=0 WORLD_SIZE=1 MASTER_PORT=23456 " MUSTER_RUNNER " within";
  Command undecided(run_script({"-n", "2"}, inner), {.environment = around});
  EXPECT_EQ(undecided.wait(), 0) << "the same variables as around it: " << undecided.err();
  Command other(run_script({"-n", "2"}, "RANK=1 WORLD_SIZE=4 MASTER_PORT=7 " MUSTER_RUNNER " x"));
  EXPECT_EQ(other.wait(), 2);
  EXPECT_EQ(count(other.err(),
                  "muster run says rank 0 of 2 (MUSTER_RANK, MUSTER_RANKS); torchrun "
                  "says rank 1 of 4 (RANK, WORLD_SIZE)"),
            1)
      << other.err();
}

// The program asks for 2 ranks.
TEST(OtherLaunchers, AnotherNumberOfRanksThanTheProgramAsksFor) {
  const CommandOptions one_task{.environment = {{"SLURM_PROCID", "0"},
                                                {"SLURM_STEP_NUM_TASKS", "1"},
                                                {"SLURM_JOB_ID", std::to_string(getpid())},
                                                {"SLURM_STEP_ID", "0"}}};
  Command slurm({MUSTER_RUNNER, "number"}, one_task);
  EXPECT_EQ(slurm.wait(), 0);
  EXPECT_EQ(slurm.out(), "number: rank 0 of 1\n");
  EXPECT_EQ(slurm.err(),
            "muster: srun (SLURM) started 1 rank, and the program asks for 2; 1 it is (with "
            "MUSTER_LAUNCHER=none the program starts its own)\n");

  Command own({"env", "MUSTER_LAUNCHER=none", MUSTER_RUNNER, "number"}, one_task);
  EXPECT_EQ(own.wait(), 0);
  EXPECT_EQ(count(own.out(), " of 2\n"), 2) << own.out();
  EXPECT_EQ(own.err(), "");

  Command launched(joined(muster({"run", "-n", "3"}), {MUSTER_RUNNER, "number"}));
  EXPECT_EQ(launched.wait(), 0);
  EXPECT_EQ(launched.err(),
            "muster: muster run started 3 ranks, and the program asks for 2; 3 it is\n");
}

// Rank 1 does not come.
TEST(OtherLaunchers, TheTimeoutIsThatOfTheRendezvousToo) {
  CommandOptions options{.environment = {{"RANK", "0"},
                                         {"WORLD_SIZE", "2"},
                                         {"MASTER_PORT", std::to_string(getpid())},
                                         {"MUSTER_TIMEOUT", "0.2"}}};
  Command zero({MUSTER_RUNNER, "alone"}, options);
  EXPECT_EQ(zero.wait(), 1);
  EXPECT_EQ(count(zero.err(), "expired: rank 0 waited 0.201 s for rank 1 of the 2 that torchrun"),
            1)
      << zero.err();
  options.environment["MUSTER_TIMEOUT"] = "2e9";
  Command too_long({MUSTER_RUNNER, "alone"}, options);
  EXPECT_EQ(too_long.wait(), 2);
  EXPECT_EQ(count(too_long.err(), "it must be a number of seconds above 0 and at most 1e9"), 1);
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
