// Ranks started by others: mpirun where it is installed, and what SLURM and torchrun would set.
#include <gtest/gtest.h>

#include <memory>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

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
