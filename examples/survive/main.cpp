// A loop of all_reduce that loses a rank in the middle, and finishes with the right sums.
//
// Every rank adds 1 + its job number, a hundred times. In step 40 the last rank is killed: it goes
// without a word, as by a machine's out-of-memory killer. The others' call ends with peer_lost
// within a second; they agree on who is left, and go on with the step that has failed, whose
// inputs they still have.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <vector>

#include "../common/command_line.hpp"
#include "muster/muster.hpp"

namespace {

constexpr int steps = 100;
constexpr int fatal_step = 40;

using muster::Result;
using muster::Team;

// What the ranks of this team that are left must have: ranks keep their order in a shrunken team.
float sum_of(std::uint32_t ranks, int step) {
  float sum = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += static_cast<float>(rank + 1);
  return sum * static_cast<float>(step + 1);
}

Result<void> sum_steps(Team& team) {
  const std::uint32_t job_rank = team.rank().value;
  const bool dies = team.size() > 1 && job_rank + 1 == team.size();
  std::optional<Team> survivors;
  Team* now = &team;
  for (int step = 0; step < steps;) {
    if (dies && step == fatal_step) kill(getpid(), SIGKILL);
    // In a buffer of its own: after a call that has failed it holds anything.
    std::vector<float> values(1000,
                              static_cast<float>(job_rank + 1) * static_cast<float>(step + 1));
    const Result<void> done = muster::all_reduce(*now, std::span(values));
    if (!done) {
      Result<Team> left = now->shrink();
      if (!left) return left.error();
      survivors = *left;
      now = &*survivors;
      continue;  // the same step again
    }
    const float expected = sum_of(now->size(), step);
    for (const float value : values)
      if (value != expected)
        return muster::Error{
            .code = muster::ErrorCode::mismatch,
            .what = fmt::format("step {}: a sum is {}, expected {}", step, value, expected)};
    ++step;
  }
  if (now->rank() == muster::Rank{0})
    fmt::print("{} steps, {} of {} ranks are left\nOK\n", steps, now->size(), team.size());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  tutorial::CommandLine command(
      "A loop of all_reduce that loses its last rank in the middle. Ranks are processes. The exit "
      "status tells of the rank that was killed: 137.");
  command.default_ranks(4);
  if (!command.parse(argc, argv)) return command.exit_code();
  muster::RunOptions options = command.run();
  options.as = muster::processes;  // a thread cannot be killed alone
  return muster::run(options, sum_steps);
}
