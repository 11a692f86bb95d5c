// 04_barrier: a barrier by hand, or with --use-builtin the one that muster brings.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  bool use_builtin = false;
  tutorial::CommandLine command(
      "A barrier, the arrivals that each rank has counted in it, and a number that has crossed "
      "it.");
  command.add_flag("--use-builtin", use_builtin,
                   "Use EpochBarrier in place of the hand-made one, and CreditBarrier besides");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [use_builtin](muster::Team& team) -> muster::Result<void> {
    const auto rows = tutorial::barrier_step(team, use_builtin);
    if (!rows) return rows.error();
    if (use_builtin) {
      const auto zeros = tutorial::row_after_credits(team);
      if (!zeros) return zeros.error();
      if (const auto right = tutorial::check_zeros(*zeros, team.rank().value, team.size()); !right)
        return right;
    }
    if (team.rank() != muster::Rank{0}) return {};
    const std::uint32_t ranks = team.size();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      fmt::print("rank {}:", rank);
      for (std::uint32_t writer = 0; writer < ranks; ++writer)
        fmt::print(" {}", (*rows)[rank * (ranks + 1) + writer]);
      fmt::print(", and {} has crossed\n", (*rows)[rank * (ranks + 1) + ranks]);
    }
    if (const auto right = tutorial::check_arrivals(*rows, ranks); !right) return right;
    if (use_builtin) fmt::print("behind a CreditBarrier all cells are zero\n");
    fmt::print("OK\n");
    return {};
  });
}
