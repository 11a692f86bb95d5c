// Ranks and launchers that may open few descriptors, or have opened all they may: what cannot be
// looked at has not ended, and where one more is needed and cannot be had, a sentence says so.
#include <gtest/gtest.h>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

// ulimit -Sn and ulimit -Hn.
Words with_limit(const std::string& kind, int limit) {
  return {"sh", "-c", "ulimit -" + kind + " " + std::to_string(limit) + " && exec \"$@\"", "sh"};
}

TEST(Descriptors, AHundredRanksOfALauncherWithFew) {
  const std::string list = fresh_path();
  Command command(with_limit("Sn", 64) +
                  muster({"run", "-n", "100", STEP_VICTIM, "window", "0", "list", list}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  unlink(list.c_str());
}

TEST(Descriptors, AHundredRanksOfAForeignLauncherWithFew) {
  const std::string list = fresh_path();
  for (auto& command : start_job(Start::alone, 100, {STEP_VICTIM, "window", "0", "list", list},
                                 with_limit("Sn", 64)))
    EXPECT_EQ(command->wait(), 0) << command->err();
  unlink(list.c_str());
}

TEST(Descriptors, TooFewForTheLauncherIsSaid) {
  Command command(with_limit("n", 40) +
                  muster({"run", "-n", "100", STEP_VICTIM, "window", "0", "list", "/dev/null"}));
  EXPECT_EQ(command.wait(), 1);
  EXPECT_EQ(count(command.err(), "muster: cannot start rank "), 1) << command.err();
  EXPECT_EQ(count(command.err(), "this process may have 40: ulimit -Hn"), 1) << command.err();
}

TEST(Descriptors, TooFewForTheRendezvousIsSaid) {
  const auto ranks = start_job(Start::alone, 60, {STEP_VICTIM, "window", "0", "list", "/dev/null"},
                               with_limit("n", 40));
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->wait(), 1);
    EXPECT_EQ(count(rank->err(), "rank 0 has no descriptor left for the "), 1) << rank->err();
    if (HasFailure()) return;
  }
}

TEST(Descriptors, ARankThatHasOpenedAllItMay) {
  for (const Start start : {Start::bare, Start::launcher, Start::alone}) {
    const auto death =
        die_at(start, 3, "hungry", "1", {"allocate: commit", 1}, with_limit("Sn", 40));
    ASSERT_TRUE(death);
    expect_all_know(*death, 3, {1});
  }
}

TEST(Descriptors, ARankThatCannotTakeAPeersMemorySaysSo) {
  Command command(with_limit("n", 40) + Words{STEP_VICTIM, "hungry", "0", "list", "/dev/null"});
  EXPECT_EQ(command.wait(), 1);
  EXPECT_GE(count(command.err(),
                  "no descriptor is left to take a peer's memory with (this process "
                  "may have 40 open: ulimit -n)"),
            1)
      << command.err();
}

}  // namespace
}  // namespace muster::testing
