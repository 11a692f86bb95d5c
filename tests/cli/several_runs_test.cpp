// Programs that run more than once: one run after the other in a process, one program after the
// other in a rank, one inside the other. Bare, under `muster run` and where another launcher has
// started the ranks.
#include <gtest/gtest.h>

#include <memory>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

const std::string runner = MUSTER_RUNNER;

std::vector<std::string> under_muster_run(std::vector<std::string> program) {
  for (const char* word : {"2", "-n", "run"}) program.insert(program.begin(), word);
  return muster(std::move(program));
}

// "NAME: rank R of P" for each rank, `times` each.
void expect_ranks(const std::string& out, const std::string& name, int ranks, int times = 1) {
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string line =
        name + ": rank " + std::to_string(rank) + " of " + std::to_string(ranks) + "\n";
    EXPECT_EQ(count(out, line), times) << line << "in\n" << out;
  }
  EXPECT_EQ(count(out, name + ": "), ranks * times) << out;
}

void expect_well(Command& command) {
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(command.err(), "");
}

// Ranks as torchrun would start them: by variables that everything that they start inherits.
class AsTorchrun {
 public:
  explicit AsTorchrun(const std::vector<std::string>& words) {
    static int job = 0;
    const std::string port = std::to_string(getpid()) + std::to_string(job++);
    for (const char* rank : {"0", "1"}) {
      const CommandOptions options{.environment = {{"RANK", rank},
                                                   {"WORLD_SIZE", "2"},
                                                   {"LOCAL_WORLD_SIZE", "2"},
                                                   {"MASTER_PORT", port}}};
      ranks_.push_back(std::make_unique<Command>(words, options));
    }
  }
  void expect_well() const {
    for (const auto& rank : ranks_) testing::expect_well(*rank);
  }
  [[nodiscard]] Command& rank(std::size_t rank) const { return *ranks_[rank]; }
  [[nodiscard]] std::string out() const { return ranks_[0]->out() + ranks_[1]->out(); }

 private:
  std::vector<std::unique_ptr<Command>> ranks_;
};

TEST(SeveralRuns, OneAfterTheOtherInAProcess) {
  const std::vector<std::string> words{runner, "first", "again"};
  Command bare(words);
  expect_well(bare);
  expect_ranks(bare.out(), "first", 2);
  expect_ranks(bare.out(), "first-2", 2);

  Command launched(under_muster_run(words));
  expect_well(launched);
  expect_ranks(launched.out(), "first", 2);
  expect_ranks(launched.out(), "first-2", 2);

  const AsTorchrun others(words);
  others.expect_well();
  expect_ranks(others.out(), "first", 2);
  expect_ranks(others.out(), "first-2", 2);
}

TEST(SeveralRuns, OneProgramAfterTheOtherInARank) {
  const std::string script = runner + " one && " + runner + " two again && " + runner + " three";
  Command launched(under_muster_run({"sh", "-c", script}));
  expect_well(launched);
  for (const char* name : {"one", "two", "two-2", "three"}) expect_ranks(launched.out(), name, 2);
}

TEST(SeveralRuns, ARankThatDoesNotComeToTheNextIsNamed) {
  const std::string complaint =
      "rank 0: peer_lost: rank 1 ended before all ranks had come to run 2";
  Command launched(under_muster_run({runner, "first", "leaves"}));
  EXPECT_EQ(launched.wait(), 1);
  EXPECT_EQ(count(launched.err(), complaint), 1) << launched.err();

  const AsTorchrun others({runner, "first", "leaves"});
  EXPECT_EQ(others.rank(1).wait(), 0);
  EXPECT_EQ(others.rank(0).wait(), 1);
  EXPECT_EQ(count(others.rank(0).err(), complaint), 1) << others.rank(0).err();
}

// A program that a rank starts is none of its ranks, nor is the process that it forks.
TEST(SeveralRuns, OneInsideTheBodyOfAnother) {
  const std::string nested = runner + " outer-inner again";
  const std::vector<std::vector<std::string>> ways{
      {runner, "outer", "within"}, {runner, "outer", "forks"}, {runner, "outer", "starts", nested}};
  for (const auto& words : ways) {
    SCOPED_TRACE(words[2]);
    const int inner = words[2] == "starts" ? 2 : 3;
    Command bare(words);
    expect_well(bare);
    expect_ranks(bare.out(), "outer", 2);
    expect_ranks(bare.out(), "outer-inner", inner, 2);

    Command launched(under_muster_run(words));
    expect_well(launched);
    expect_ranks(launched.out(), "outer", 2);
    expect_ranks(launched.out(), "outer-inner", inner, 2);

    const AsTorchrun others(words);
    others.expect_well();
    expect_ranks(others.out(), "outer", 2);
    expect_ranks(others.out(), "outer-inner", inner, 2);
  }
}

// Each rank's launch has ranks of its own, and leaves those of the others alone.
TEST(SeveralRuns, SeveralLaunchesAtOnceInAProcess) {
  for (int round = 0; round < 5; ++round) {
    Command command({runner, "outer", "threads"});
    expect_well(command);
    expect_ranks(command.out(), "outer", 4);
    expect_ranks(command.out(), "outer-inner", 3, 4);
  }
}

// Each launcher inside the body of a rank that the other has started.
TEST(SeveralRuns, ALauncherInsideABody) {
  const std::string by_muster =
      std::string(MUSTER_PROGRAM) + " run -n 3 " + runner + " inner again";
  const AsTorchrun outer({runner, "outer", "starts", by_muster});
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(outer.rank(rank).wait(), 0) << outer.rank(rank).err();
    const std::string line =
        "muster: muster run started 3 ranks, and the program asks for 2; 3 it is\n";
    EXPECT_EQ(outer.rank(rank).err(), line + line);
  }
  expect_ranks(outer.out(), "outer", 2);
  expect_ranks(outer.out(), "inner", 3, 2);
  expect_ranks(outer.out(), "inner-2", 3, 2);

  const std::string by_other = "RANK=0 WORLD_SIZE=1 MASTER_PORT=1 " + runner + " inner again";
  Command launched(under_muster_run({runner, "outer", "starts", by_other}));
  EXPECT_EQ(launched.wait(), 0) << launched.err();
  EXPECT_EQ(count(launched.err(), "torchrun started 1 rank, and the program asks for "), 4);
  EXPECT_EQ(lines_of(launched.err()).size(), 4U) << launched.err();
  expect_ranks(launched.out(), "outer", 2);
  expect_ranks(launched.out(), "inner", 1, 2);
  expect_ranks(launched.out(), "inner-2", 1, 2);
}

TEST(SeveralRuns, UnderMpirun) {
  Command look({"sh", "-c", "command -v mpirun && mpirun --version | grep -q 'Open MPI'"});
  if (look.wait() != 0) GTEST_SKIP() << "Open MPI's mpirun is not on the PATH";
  const std::string nested = runner + " inner";
  Command command(
      {"mpirun", "--oversubscribe", "-n", "2", runner, "outer", "starts", nested},
      {.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}});
  EXPECT_EQ(command.wait(), 0) << command.err();
  expect_ranks(command.out(), "outer", 2);
  expect_ranks(command.out(), "inner", 2, 2);
}

}  // namespace
}  // namespace muster::testing
