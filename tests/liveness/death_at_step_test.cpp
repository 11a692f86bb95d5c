// A rank dies at each step of each set-up call: every survivor is told within a second that it was
// this rank, as peer_lost. The steps are those that the source names (base/step.hpp): the program
// lists the ones that it comes to, and then dies at each in turn. Every one is died at, in some
// run.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>

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

std::set<std::string> died_at;  // by any rank, in any test

// die_at, noted.
std::optional<Death> dies_at(Start start, std::uint32_t ranks, const std::string& scenario,
                             const std::string& victim, const Step& step) {
  auto death = die_at(start, ranks, scenario, victim, step);
  if (death) died_at.insert(step.name);
  return death;
}

// Dies at each step of the list. A rank need not come to a step each time (who is the last to leave
// a team, and how often a full socket is tried, differs): one that it did not come to even once,
// whoever comes to it dies at. `told(death)` says what the others must know.
template <class Told>
void die_at_each(Start start, std::uint32_t ranks, const std::string& scenario,
                 std::uint32_t victim, Told told) {
  const std::vector<Step> steps = steps_of(start, ranks, scenario, victim);
  std::set<std::string> left;
  for (const Step& step : steps) left.insert(step.name);
  const auto die = [&](const std::string& who, const Step& step) {
    const auto death = dies_at(start, ranks, scenario, who, step);
    if (death) told(*death);
    return death.has_value();
  };
  for (const Step& step : steps) {
    SCOPED_TRACE(name_of(victim, step));
    if (die(std::to_string(victim), step)) left.erase(step.name);
    if (::testing::Test::HasFailure()) return;
  }
  for (const std::string& name : left) {
    EXPECT_TRUE(die("any", {name, 1})) << "no rank comes to \"" << name << "\" in " << scenario;
    if (::testing::Test::HasFailure()) return;
  }
}

// For the first rank of the team and another.
void die_everywhere(Start start, const std::string& scenario) {
  for (const std::uint32_t victim : {0U, 2U})
    die_at_each(start, 3, scenario, victim,
                [](const Death& death) { expect_all_know(death, 3, {death.victim}); });
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
    const auto death = dies_at(Start::bare, 4, "after_failure", "any", {step, 1});
    ASSERT_TRUE(death);
    expect_all_know(*death, 3, {3, death->victim});
  }
}

// The survivors' survivors find each other. Which of them decides is left to chance.
TEST(DeathAtStep, Shrinking) {
  for (const std::uint32_t victim : {0U, 2U})
    die_at_each(Start::bare, 4, "after_shrink", victim, [](const Death& death) {
      EXPECT_EQ(count(death.out, "2 survivors"), 2) << death.out << death.err;
      EXPECT_LT(death.took_s, 2.0) << "there are two to be noticed, one after the other";
    });
}

std::set<std::string> steps_of_the_source() {
  const std::regex call(R"re(\bstep\([^";]*"([^"]+)"\))re");
  std::set<std::string> names;
  const std::filesystem::path source = SOURCE_FOLDER;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    // Steps of the model are others. Wherever the source lies: a folder above may have any name.
    if (*entry.path().lexically_relative(source).begin() == "check") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

// What no test above has come to is died at in the first scenario that does.
TEST(DeathAtStep, NoStepOfTheSourceIsLeftOut) {
  struct Scenario {
    Start start;
    std::uint32_t ranks;
    const char* name;
  };
  const Scenario scenarios[] = {
      {Start::bare, 3, "join"},         {Start::bare, 3, "window"},
      {Start::bare, 3, "window_on"},    {Start::bare, 3, "split"},
      {Start::launcher, 3, "join"},     {Start::launcher, 3, "again"},
      {Start::alone, 3, "join"},        {Start::alone, 3, "again"},
      {Start::bare, 4, "after_shrink"}, {Start::bare, 4, "after_failure"}};
  const std::set<std::string> names = steps_of_the_source();
  EXPECT_GT(names.size(), 30U);
  // Who is last, or sees a death first, is left to chance, and so is whether a step is come to.
  const auto is_come_to = [&](const std::string& name) {
    for (int round = 0; round < 10; ++round)
      for (const Scenario& scenario : scenarios)
        if (died_at.contains(name) ||
            dies_at(scenario.start, scenario.ranks, scenario.name, "any", {name, 1}))
          return true;
    return false;
  };
  for (const std::string& name : names)
    EXPECT_TRUE(is_come_to(name)) << "no scenario comes to \"" << name << '"';
}

}  // namespace
}  // namespace muster::testing
