// 07_dynamic_rank_count: everybody's numbers on every rank, however many ranks there are.
#include <fmt/core.h>

#include <numeric>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("Rank r has r + 1 numbers; all ranks get all of them.");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    const auto table = tutorial::gather_all(team);
    if (!table) return table.error();
    if (const auto right = tutorial::check_table(*table, team.size()); !right) return right;
    if (const auto met = team.sync(); !met) return met;  // rank 0's OK speaks for all
    if (team.rank() != muster::Rank{0}) return {};
    const std::uint32_t ranks = team.size();
    fmt::print("{} ranks, {} numbers, sum {}\n", ranks, ranks * (ranks + 1) / 2,
               std::accumulate(table->begin(), table->end(), std::int64_t{0}));
    fmt::print("OK\n");
    return {};
  });
}
