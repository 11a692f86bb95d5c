// Jobs that tests of liveness start, and what their survivors have to say.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "support/board.hpp"

namespace muster::testing {

using Words = std::vector<std::string>;

// How the ranks are started. `alone`: by nobody that would tell of their end, and with an
// environment such as mpirun gives.
enum class Start { bare, launcher, alone, mpirun };

struct Step {
  std::string name;
  int nth;  // from 1
};

struct Death {
  std::uint32_t victim = 0;
  double took_s = 0;  // from the death to the end of the last rank
  std::string out;
  std::string err;
};

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline std::string fresh_path() {
  static int number = 0;
  return ::testing::TempDir() + "muster_liveness_" + std::to_string(getpid()) + "_" +
         std::to_string(number++);
}

// All that was started for one job. `program` stands behind `wrapper`, for each rank.
inline std::vector<std::unique_ptr<Command>> start_job(Start start, std::uint32_t ranks,
                                                       const Words& program,
                                                       const Words& wrapper = {}) {
  std::vector<std::unique_ptr<Command>> commands;
  const std::string number = std::to_string(ranks);
  const auto add = [&](const Words& words, const CommandOptions& options = {}) {
    commands.push_back(std::make_unique<Command>(words, options));
  };
  if (start == Start::bare) add(wrapper + program);
  if (start == Start::launcher) add(muster({"run", "-n", number}) + wrapper + program);
  if (start == Start::mpirun) {
    add(Words{"mpirun", "--oversubscribe", "-n", number} + wrapper + program,
        {.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}});
  }
  static int jobs = 0;
  const std::string key = std::to_string(getpid()) + "." + std::to_string(jobs++);
  for (std::uint32_t rank = 0; start == Start::alone && rank < ranks; ++rank) {
    add(wrapper + program, {.environment = {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                                            {"OMPI_COMM_WORLD_SIZE", number},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", number},
                                            {"PMIX_NAMESPACE", key}}});
  }
  return commands;
}

// step_victim, a rank of which dies. Nothing where no rank came to that step this time.
inline std::optional<Death> die_at(Start start, std::uint32_t ranks, const std::string& scenario,
                                   const std::string& victim, const Step& step,
                                   const Words& wrapper = {}) {
  const std::string path = fresh_path();
  Death death;
  for (auto& command : start_job(
           start, ranks, {STEP_VICTIM, scenario, victim, step.name, std::to_string(step.nth), path},
           wrapper)) {
    command->wait();
    death.out += command->out();
    death.err += command->err();
  }
  const std::int64_t ended_ns = monotonic_ns();
  std::ifstream file(path);
  std::int64_t at_ns = 0;
  if (!(file >> death.victim >> at_ns)) return std::nullopt;
  unlink(path.c_str());
  death.took_s = static_cast<double>(ended_ns - at_ns) / 1e9;
  return death;
}

// Each of the ranks below `survivors` but the victim says that one of the dead has died.
inline void expect_all_know(const Death& death, std::uint32_t survivors,
                            const std::set<std::uint32_t>& dead) {
  for (std::uint32_t rank = 0; rank < survivors; ++rank) {
    if (rank == death.victim) continue;
    const std::string who = "muster: rank " + std::to_string(rank) + ": peer_lost: ";
    const std::size_t line = death.err.find(who);
    ASSERT_NE(line, std::string::npos) << "rank " << rank << " was not told\n" << death.err;
    const std::string said = death.err.substr(line, death.err.find('\n', line) - line);
    bool named = false;
    for (const std::uint32_t peer : dead)
      named = named || said.find("peer " + std::to_string(peer)) != std::string::npos;
    EXPECT_TRUE(named) << said;
  }
  EXPECT_LT(death.took_s, 1.0) << death.err;
}

}  // namespace muster::testing
