// Ranks in pid namespaces of their own, where each is process 1: their numbers say nothing, and
// nobody has a /proc that shows the others.
#include <gtest/gtest.h>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

const Words in_own_namespace{"unshare", "-pf", "--mount-proc"};
// And where there is no /proc at all.
const Words without_proc{"unshare", "-m", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"};

bool works(const Words& words) {
  Command look(words + Words{"true"});
  return look.wait() == 0;
}

class Namespaces : public ::testing::TestWithParam<Start> {
 protected:
  void SetUp() override {
    if (!works(in_own_namespace)) GTEST_SKIP() << "unshare -pf --mount-proc is not allowed here";
    if (GetParam() == Start::mpirun && !works({"sh", "-c", "command -v mpirun"}))
      GTEST_SKIP() << "mpirun is not on the PATH";
  }
};

TEST_P(Namespaces, LivingRanksMeetAndReachEachOthersMemory) {
  for (const char* scenario : {"window", "window_on", "split"}) {
    SCOPED_TRACE(scenario);
    const std::string list = fresh_path();
    for (auto& command :
         start_job(GetParam(), 3, {STEP_VICTIM, scenario, "0", "list", list}, in_own_namespace))
      EXPECT_EQ(command->wait(), 0) << command->err();
    unlink(list.c_str());
  }
}

TEST_P(Namespaces, ADeathIsNoticed) {
  for (const Step& step : {Step{"join: wait for all", 1}, Step{"meeting: wait", 1},
                           Step{"handover: received", 1}, Step{"window_on: keep", 1}}) {
    SCOPED_TRACE(step.name);
    const auto death = die_at(GetParam(), 3, "window_on", "1", step, in_own_namespace);
    ASSERT_TRUE(death);
    // mpirun ends all others when one has failed, whoever comes first.
    if (GetParam() == Start::mpirun)
      EXPECT_LT(death->took_s, 5.0);
    else
      expect_all_know(*death, 3, {1});
  }
}

std::string name_of(const ::testing::TestParamInfo<Start>& start) {
  switch (start.param) {
    case Start::bare: return "Bare";
    case Start::launcher: return "Launcher";
    case Start::alone: return "Alone";
    case Start::mpirun: break;
  }
  return "Mpirun";
}

INSTANTIATE_TEST_SUITE_P(Start, Namespaces,
                         ::testing::Values(Start::bare, Start::launcher, Start::alone,
                                           Start::mpirun),
                         name_of);

// Windows of the job's own memory need no socket; what ranks register does, and that is said.
TEST(NetworkNamespaces, BroughtMemoryCannotBeHandedOverAndThatIsSaid) {
  const Words wrapper{"unshare", "-n"};
  if (!works(wrapper)) GTEST_SKIP() << "unshare -n is not allowed here";
  for (const char* scenario : {"window", "window_on"}) {
    const bool brings = std::string(scenario) == "window_on";
    for (auto& command : start_job(Start::launcher, 3,
                                   {STEP_VICTIM, scenario, "0", "list", "/dev/null"}, wrapper)) {
      EXPECT_EQ(command->wait(), brings ? 1 : 0) << command->err();
      EXPECT_GE(count(command->err(), "a rank lives in another network namespace"), brings ? 3 : 0)
          << command->err();
    }
  }
}

TEST(NoProc, RanksMeetAndADeathIsNoticed) {
  if (!works(without_proc)) GTEST_SKIP() << "unshare -m and umount are not allowed here";
  for (const Start start : {Start::bare, Start::launcher, Start::alone}) {
    const auto death = die_at(start, 3, "window_on", "1", {"window_on: keep", 1}, without_proc);
    ASSERT_TRUE(death);
    expect_all_know(*death, 3, {1});
  }
}

}  // namespace
}  // namespace muster::testing
