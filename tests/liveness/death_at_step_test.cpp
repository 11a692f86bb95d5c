// A rank dies at each step of each set-up call: every survivor is told within a second that it was
// this rank, as peer_lost. The steps are those that the source names (base/step.hpp): the program
// lists the ones that it comes to, and then dies at each in turn.
#include <gtest/gtest.h>

#include <map>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

std::vector<Step> steps_of(Start start, std::uint32_t ranks, const std::string& scenario,
                           std::uint32_t victim) {
  const std::string path = fresh_path();
  for (auto& command :
       start_job(start, ranks, {STEP_VICTIM, scenario, std::to_string(victim), "list", path}))
    EXPECT_TRUE(command->wait() == 0 || scenario.starts_with("after_")) << command->err();
  std::ifstream file(path);
  std::vector<Step> steps;
  std::map<std::string, int> times;
  for (std::string name; std::getline(file, name);) steps.push_back({name, ++times[name]});
  unlink(path.c_str());
  EXPECT_FALSE(steps.empty());
  return steps;
}

std::string name_of(std::uint32_t victim, const Step& step) {
  return "rank " + std::to_string(victim) + " at \"" + step.name + "\", time " +
         std::to_string(step.nth);
}

// The whole list, for the first rank of the team and another.
void die_everywhere(Start start, const std::string& scenario) {
  for (const std::uint32_t victim : {0U, 2U}) {
    const std::vector<Step> steps = steps_of(start, 3, scenario, victim);
    std::size_t died = 0;
    for (const Step& step : steps) {
      SCOPED_TRACE(name_of(victim, step));
      const auto death = die_at(start, 3, scenario, std::to_string(victim), step);
      if (!death) continue;
      ++died;
      expect_all_know(*death, 3, {victim});
      if (::testing::Test::HasFailure()) return;
    }
    // Who is the last to leave a team, and how often a full socket is tried, differs.
    // Who is the last to leave a team, and how often a full socket is tried, differs.
    EXPECT_GE(died * 4, steps.size() * 3);
  }
}

TEST(DeathAtStep, JoiningAsABareStart) {
  die_everywhere(Start::bare, "join");
}
TEST(DeathAtStep, JoiningUnderTheLauncher) {
  die_everywhere(Start::launcher, "join");
}
TEST(DeathAtStep, JoiningUnderAForeignLauncher) {
  die_everywhere(Start::alone, "join");
}
TEST(DeathAtStep, JoiningASecondRun) {
  die_everywhere(Start::launcher, "again");
  die_everywhere(Start::alone, "again");
}
TEST(DeathAtStep, Windows) {
  die_everywhere(Start::bare, "window");
}
TEST(DeathAtStep, WindowsOnBroughtMemory) {
  die_everywhere(Start::bare, "window_on");
}
TEST(DeathAtStep, SplitAndClose) {
  die_everywhere(Start::bare, "split");
}

// Whoever is about to say that a rank has died dies over it: another takes over.
TEST(DeathAtStep, TheOneWhoReportsADeath) {
  for (const char* step : {"failure: begun", "failure: written"}) {
    SCOPED_TRACE(step);
    const auto death = die_at(Start::bare, 4, "after_failure", "any", {step, 1});
    ASSERT_TRUE(death);
    expect_all_know(*death, 3, {3, death->victim});
  }
}

// The survivors' survivors find each other. Which of them decides is left to chance, so where the
// rank of the list does not come to the step, whoever does dies there.
TEST(DeathAtStep, Shrinking) {
  for (const std::uint32_t victim : {0U, 2U}) {
    const std::vector<Step> steps = steps_of(Start::bare, 4, "after_shrink", victim);
    std::size_t died = 0;
    for (const Step& step : steps) {
      SCOPED_TRACE(name_of(victim, step));
      auto death = die_at(Start::bare, 4, "after_shrink", std::to_string(victim), step);
      if (!death) death = die_at(Start::bare, 4, "after_shrink", "any", step);
      if (!death) continue;
      ++died;
      EXPECT_EQ(count(death->out, "2 survivors"), 2) << death->out << death->err;
      EXPECT_LT(death->took_s, 2.0) << "there are two to be noticed, one after the other";
      if (HasFailure()) return;
    }
    EXPECT_GE(died * 4, steps.size() * 3);
  }
}

}  // namespace
}  // namespace muster::testing
