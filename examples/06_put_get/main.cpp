// 06_put_get: the neighbour's matrix by put and by get, whole, in chunks and pipelined; with
// --wrong the requests that are refused, and why.
#include <fmt/core.h>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

namespace {

muster::Result<void> all_forms(muster::Team& team) {
  for (const bool pull : {false, true}) {
    for (const tutorial::Form& form : tutorial::forms) {
      const auto seen = tutorial::put_get(team, form, pull);
      if (!seen) return seen.error();
      const std::uint32_t from = (team.rank().value + (pull ? 1 : team.size() - 1)) % team.size();
      if (const auto right = tutorial::check_put_get(*seen, from); !right) return right;
      if (const auto met = team.sync(); !met) return met;  // rank 0's line speaks for all
      if (team.rank() == muster::Rank{0})
        fmt::print("{} {:<9} rank 0 has rank {}'s matrix: {} ... {}\n", pull ? "get" : "put",
                   form.name, from, seen->front(), seen->back());
    }
  }
  if (team.rank() == muster::Rank{0}) fmt::print("OK\n");
  return {};
}

muster::Result<void> all_wrong(muster::Team& team) {
  for (const auto& [request, answer] : tutorial::wrong_requests(team)) {
    if (answer.empty())
      return muster::Error{.code = muster::ErrorCode::mismatch, .what = request + " was accepted"};
    if (team.rank() == muster::Rank{0}) fmt::print("{}:\n  {}\n", request, answer);
  }
  if (team.rank() == muster::Rank{0}) fmt::print("OK\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  bool wrong = false;
  tutorial::CommandLine command("A neighbour's matrix, by put and by get, in three forms.");
  command.add_flag("--wrong", wrong, "Show what is refused, and why, in place of it");
  if (!command.parse(argc, argv)) return command.exit_code();
  return muster::run(command.run(), [wrong](muster::Team& team) {
    return wrong ? all_wrong(team) : all_forms(team);
  });
}
