// 21_network: rows around a ring, on one host or on many. MUSTER_FABRIC (host, ucx, auto) says what
// carries them.
#include <fmt/core.h>

#include <type_traits>

#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run/ucx.hpp"

int main(int argc, char** argv) {
  tutorial::CommandLine command("Rows around a ring of ranks, on one host or on many.");
  if (!command.parse(argc, argv)) return command.exit_code();
  return muster::ucx::run(command.run(), [](auto& team) -> muster::Result<void> {
    const auto total = tutorial::rows_around(team);
    if (!total) return total.error();
    if (*total != tutorial::golden_rows(team.size()))
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = fmt::format("the sum is {}", *total)};
    if (const auto met = team.sync(); !met) return met;  // rank 0's OK speaks for all
    if (team.rank() != muster::Rank{0}) return {};
    using Team = std::remove_reference_t<decltype(team)>;
    const bool network = std::is_same_v<Team, muster::ucx::Team>;
    fmt::print("{} ranks, by {}: the sum is {}\nOK\n", team.size(),
               network ? "the network" : "the host's memory", *total);
    return {};
  });
}
