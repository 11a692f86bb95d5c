// 03_window_buffer: each rank doubles the matrix in its right neighbour's window.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("Each rank doubles the matrix in its right neighbour's window.");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    const auto output = tutorial::window_buffer(team);
    if (!output) return output.error();
    const auto right = tutorial::check_window(*output, team.rank().value, team.size());
    if (!right) return right;
    if (const auto met = team.sync(); !met) return met;  // rank 0's OK speaks for all
    if (team.rank() != muster::Rank{0}) return {};
    fmt::print("rank 0 doubled rank {}'s matrix: {} {} {} ... {}\n", 1 % team.size(),
               output->front(), (*output)[1], (*output)[2], output->back());
    fmt::print("OK\n");
    return {};
  });
}
