// The main of a step on collectives: runs it, checks it, and prints what rank 0 has.
#pragma once

#include <fmt/core.h>

#include <string>

#include "collective_step.hpp"
#include "command_line.hpp"
#include "muster/run.hpp"

namespace tutorial {

struct CollectiveStep {
  const char* about;
  std::uint32_t ranks = 4;    // without -n
  const char* modes[2] = {};  // what --mode takes, the first is the default; none: no --mode
  std::uint32_t most = 1024;  // ranks
};

// step(team, mode) -> Result<Values>, golden(rank, ranks) -> Values.
template <class Step, class Golden>
int collective_main(int argc, char** argv, const CollectiveStep& what, Step&& step,
                    Golden&& golden) {
  std::string mode = what.modes[0] == nullptr ? "" : what.modes[0];
  CommandLine command(what.about);
  command.default_ranks(what.ranks);
  if (what.modes[0] != nullptr)
    command.add_choice("--mode", mode, {what.modes[0], what.modes[1]}, "Which of the two does it");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [&](muster::Team& team) -> muster::Result<void> {
    if (team.size() < 2) return too_few(team.size(), 2);
    const muster::Result<Values> seen = step(team, mode);
    if (!seen) return seen.error();
    const auto right = check_values(*seen, golden(team.rank().value, team.size()));
    if (!right) return right;
    if (const auto met = team.sync(); !met) return met;  // rank 0's OK speaks for all
    if (team.rank() != muster::Rank{0}) return {};
    fmt::print("rank 0 of {} has {} numbers: {:.4g} {:.4g} ... {:.4g}\n", team.size(), seen->size(),
               (*seen)[0], (*seen)[1], seen->back());
    fmt::print("OK\n");
    return {};
  });
}

}  // namespace tutorial
