// 19_semaphore: all ranks work at two desks, which a counting semaphore guards.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("All ranks work at two desks, guarded by a counting semaphore.");
  command.default_ranks(4);
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    constexpr std::uint32_t rounds = 50;
    const auto seen = tutorial::semaphore_step(team, rounds);
    if (!seen) return seen.error();
    const std::uint32_t rank = team.rank().value;
    const auto right = tutorial::check_worked(*seen, rank, team.size(), rounds);
    if (!right || rank != 0) return right;
    fmt::print("{} ranks worked {} times at {} desks\nOK\n", team.size(), *seen, tutorial::desks);
    return {};
  });
}
