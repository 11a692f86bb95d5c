// 17_handshake: a number from rank 0 to rank 1, and one back, by hand or with SendReceive.
#include <fmt/core.h>

#include <span>
#include <string>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"
#include "muster/team/collective.hpp"

int main(int argc, char** argv) {
  std::string mode = "hand";
  tutorial::CommandLine command("Rank 0 sends a number to rank 1, which answers.");
  command.default_ranks(2);
  command.add_choice("--mode", mode, {"hand", "builtin"}, "Which of the two does it");
  if (!command.parse(argc, argv)) return command.exit_code();

  return muster::run(command.run(), [&](muster::Team& team) -> muster::Result<void> {
    if (team.size() < 2) return tutorial::too_few(team.size(), 2);
    const auto seen = tutorial::handshake_step(team, mode);
    if (!seen) return seen.error();
    const auto golden = tutorial::handshake_golden(team.rank().value);
    if (const auto right = tutorial::check_values(*seen, golden); !right) return right;
    // For the one line that is printed; it speaks for all.
    const muster::Rank root{0};
    const float mine = seen->empty() ? 0 : seen->front();
    tutorial::Values all(team.rank() == root ? team.size() : 0);
    const auto gathered = muster::gather(team, std::span(all), std::span(&mine, 1), root);
    if (!gathered || team.rank() != root) return gathered;
    fmt::print("[[{}], [{}]]\nOK\n", all[0], all[1]);
    return {};
  });
}
