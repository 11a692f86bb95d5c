// 05_remote_load_store: tiles pulled from a neighbour, pushed to it, and added up on rank 0.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("Tiles from a peer, to a peer, and added to a peer's.");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    const auto result = tutorial::remote_load_store(team);
    if (!result) return result.error();
    const auto right = tutorial::check_load_store(*result, team.rank().value, team.size());
    if (!right) return right;
    if (const auto met = team.sync(); !met) return met;  // rank 0's OK speaks for all
    if (team.rank() != muster::Rank{0}) return {};
    fmt::print("pulled from the right:   {} {} ... {}\n", result->pulled[0], result->pulled[1],
               result->pulled.back());
    fmt::print("pushed from the left:    {} {} ... {}\n", result->pushed[0], result->pushed[1],
               result->pushed.back());
    fmt::print("added up by {} ranks:     {} {} ... {}\n", team.size(), result->sum[0],
               result->sum[1], result->sum.back());
    fmt::print("OK\n");
    return {};
  });
}
