// 18_ticket_lock: all ranks count one number up under a lock, in the order of their tickets.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("All ranks count one number up, under a ticket lock.");
  command.default_ranks(4);
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    constexpr std::uint32_t rounds = 50;
    const auto seen = tutorial::ticket_lock_step(team, rounds);
    if (!seen) return seen.error();
    const std::uint32_t rank = team.rank().value;
    const auto right = tutorial::check_counted(*seen, rank, team.size(), rounds);
    if (!right || rank != 0) return right;
    fmt::print("{} ranks counted to {}\nOK\n", team.size(), seen->number);
    return {};
  });
}
