// 01_hello_rank: start some ranks; each says who it is.
//
//   ./01_hello_rank -n 4             starts 4 processes itself
//   ./01_hello_rank -n 4 --threads   the same ranks as threads
//   muster run -n 4 ./01_hello_rank  started by the launcher (mpirun works as well)
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("Every rank says who it is, and rank 0 hears them all.");
  if (!command.parse(argc, argv)) return command.exit_code();

  // run() joins the ranks that a launcher has started, or starts them; each then runs the body. An
  // Error that the body returns is printed, told to the other ranks, and makes the exit code 1.
  return muster::run(command.run(), [](muster::Team& team) -> muster::Result<void> {
    const auto heard = tutorial::hello_rank(team);
    if (!heard) return heard.error();
    if (team.rank() != muster::Rank{0}) return {};
    // Only rank 0 prints: lines of several processes would come in any order.
    for (const std::uint32_t number : *heard)
      fmt::print("rank {} of {} says hello\n", number - 1, team.size());
    if (const auto right = tutorial::check_hello(*heard, team.size()); !right) return right;
    fmt::print("OK\n");
    return {};
  });
}
