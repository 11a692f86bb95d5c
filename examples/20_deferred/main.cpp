// 20_deferred: waits that give their worker back, on two ranks.
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "../common/collective_step.hpp"
#include "../common/command_line.hpp"
#include "body.hpp"
#include "muster/run.hpp"

int main(int argc, char** argv) {
  tutorial::Way way;
  tutorial::CommandLine command("Two ranks wait for each other without keeping a worker.");
  command.default_ranks(2);
  command.add_flag("--blocking", way.blocking,
                   "The waits block in their tasks: nobody can publish, until 2 s are over");
  command.add_text("--trace", way.trace,
                   "Write a trace for Perfetto; {rank} in it becomes the rank", "FILE");
  if (!command.parse(argc, argv)) return command.exit_code();

  muster::RunOptions options = command.run();
  if (way.blocking) options.timeout = std::chrono::seconds(2);
  return muster::run(options, [&](muster::Team& team) -> muster::Result<void> {
    if (team.size() != 2) {
      return muster::Error{
          .code = muster::ErrorCode::invalid_argument,
          .what = fmt::format("there are {} ranks; this step needs 2 (-n)", team.size())};
    }
    tutorial::Way mine = way;
    std::atomic<std::uint32_t> begun{0};
    mine.begun = &begun;
    const auto read = tutorial::deferred_step(team, mine);
    if (!read) return read.error();
    const std::uint32_t rank = team.rank().value;
    if (const auto right = tutorial::check_read(*read, rank, way.waiters); !right) return right;
    for (std::uint32_t turn = 0; turn < team.size(); ++turn) {
      if (turn == rank) {
        fmt::print("rank {}: {} consumers in each of {} epochs have read {}\n", rank, way.waiters,
                   tutorial::deferred_epochs, read->front());
        std::fflush(stdout);
      }
      if (const auto met = team.sync(); !met) return met;
    }
    if (rank == 0) fmt::print("OK\n");
    return {};
  });
}
