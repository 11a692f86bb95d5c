// 02_programming_model: one program, many ranks, two lanes each.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("One program, many ranks, two lanes on each.");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    const auto values = tutorial::programming_model(team);
    if (!values) return values.error();
    // Every rank has the whole table and checks it. The sync makes rank 0's OK speak for all: where
    // another rank has returned an error, it ends with that error.
    if (const auto right = tutorial::check_model(*values, team.size()); !right) return right;
    if (const auto met = team.sync(); !met) return met;
    if (team.rank() != muster::Rank{0}) return {};
    for (std::uint32_t rank = 0; rank < team.size(); ++rank)
      fmt::print("rank {}: lane 0 made {}, lane 1 made {}\n", rank, (*values)[rank * 2],
                 (*values)[rank * 2 + 1]);
    fmt::print("OK\n");
    return {};
  });
}
