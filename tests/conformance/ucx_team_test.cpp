// Teams of the network fabric: within one another, closed and made again; and what a barrier costs.
#include <gtest/gtest.h>

#include <vector>

#include "conformance/setup_bodies.hpp"
#include "conformance/ucx_runner.hpp"
#include "muster/barrier.hpp"
#include "muster/transfer.hpp"

namespace muster::conformance {
namespace {

// Odd and even ranks apart, numbered backwards: everybody writes the parent's window and one of the
// new team's, and gets both from every member.
Result<void> split_and_close(ucx::Team& team) {
  const auto parents = *team.window<std::int64_t>({4});
  for (int round = 1; round <= 5; ++round) {
    const auto key = -static_cast<std::int32_t>(team.rank().value);
    auto half = team.split(static_cast<std::int32_t>(team.rank().value % 2), key);
    if (!half) return half.error();
    const EpochBarrier barrier(*half);
    const auto own = *half->window<std::int64_t>({8});
    const auto copy = *half->window<std::int64_t>({2});
    Checks checks;
    const std::int64_t base = std::int64_t{round} * 1000;
    const auto ran = half->lane([&](auto& fabric) -> WaitStatus {
      checks.equal(fabric.local(own)[0], 0, "a new window's element");
      fabric.local(parents)[0] = base + team.rank().value;
      fabric.local(own)[0] = base + fabric.rank().value;
      const WaitStatus met = barrier.sync(fabric);
      for (std::uint32_t peer = 0; peer < fabric.size(); ++peer) {
        const std::int64_t rank = team.rank().value % 2 + 2 * (fabric.size() - 1 - peer);
        checks.ok(fabric.get(copy, 0, parents, Rank{peer}, 0, 1), "get of the parent's window");
        checks.ok(fabric.get(copy, 1, own, Rank{peer}, 0, 1), "get of the team's window");
        checks.equal(fabric.local(copy)[0], base + rank, "the parent's window");
        checks.equal(fabric.local(copy)[1], base + peer, "the team's window");
      }
      return worst(met, barrier.sync(fabric));
    });
    if (!ran) return ran;
    if (!checks.done()) return checks.done();
    if (auto closed = half->close(); !closed) return closed;
    if (half->sync()) return Error{ErrorCode::invalid_argument, "sync of a closed team succeeded"};
  }
  return {};
}

// A team that was split off fails by itself, and with its parent.
Result<void> failures_of_parts(ucx::Team& team) {
  auto part = team.split(0);
  if (!part) return part.error();
  if (team.rank() == Rank{0}) part->abort("on purpose");
  const Signals never = *team.signals(1);
  Checks checks;
  while (part->sync()) {
  }
  checks.refused(part->sync(), ErrorCode::aborted, "sync of the part", "rank 0 called abort");
  checks.ok(team.sync(), "sync of the team");
  checks.ok(team.lane([&](auto& fabric) {
    fabric.notify(never[0], fabric.rank(), 1, NotifyOp::set);
    return fabric.wait(never[0], Compare::eq, 1);
  }),
            "a lane of the team");
  return checks.done();
}

// Ranks that differ are told so, both sides by name; the next call is right again.
Result<void> mismatch(ucx::Team& team) {
  Checks checks;
  if (team.size() > 1) {
    const std::int64_t odd = team.rank() == Rank{1} ? 5 : 4;
    checks.refused(team.window<float>({odd}), ErrorCode::mismatch, "a window that differs",
                   "rank 1", "{5} float32");
  }
  checks.ok(team.sync(), "the call after it");
  return checks.done();
}

// Where nothing but deposits of one kind is under way, a barrier flushes nothing; a put before it
// is flushed once for each peer that it speaks to about it.
Result<void> barriers_flush_what_they_must(ucx::Team& team) {
  const EpochBarrier barrier(team);
  const auto box = *team.window<std::int32_t>({8});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (int call = 0; call < 10; ++call) checks.ok(barrier.sync(fabric), "a barrier");
    checks.equal(fabric.traffic().flushes, 0, "flushes of barriers alone");
    if (fabric.size() == 1) return checks.done();
    fabric.put(box, right_of(fabric), 0, box, 4, 4);
    checks.ok(barrier.sync(fabric), "a barrier behind a put");
    checks.equal(fabric.traffic().release_flushes, 1, "flushes for releases");
    checks.equal(fabric.traffic().flushes, 1, "flushes");
    checks.ok(barrier.sync(fabric), "another one");
    checks.equal(fabric.traffic().flushes, 1, "flushes");
    return checks.done();
  });
}

// What an error of a wait names.
Result<void> reports(ucx::Team& team) {
  const Rows rows = *team.rows();
  Checks checks;
  const auto waited = team.lane([&](auto& fabric) {
    return fabric.wait(rows.from(Lane{0}, right_of(fabric)), Compare::ge, 7);
  });
  if (waited) return Error{ErrorCode::mismatch, "a wait without a deposit ended well"};
  const Error& error = waited.error();
  checks.holds(error.code == ErrorCode::expired || error.code == ErrorCode::aborted, "the code");
  checks.equal(error.seen.value_or(99), 0, "the value seen");
  checks.equal(error.expected.value_or(99), 7, "the value expected");
  checks.holds(error.lane && error.rank && error.cell, "where it was");
  return checks.done();
}

[[maybe_unused]] const bool ucx_team_cases = add_ucx_cases(
    "team", {{"Extents", extents<ucx::Team>, Sizes::few},
             {"Statuses", statuses<ucx::Team>, Sizes::few},
             {"SplitAndClose", split_and_close, Sizes::few},
             {"FailuresOfParts", failures_of_parts, Sizes::few},
             {"Mismatch", mismatch, Sizes::few},
             {"BarriersFlushWhatTheyMust", barriers_flush_what_they_must, Sizes::few}});

TEST(UcxReport, AnExpiredWaitNamesEverything) {
  const UcxRun run = run_on_ucx(2, "posix",
                                [](ucx::Team& team) {
                                  const Result<void> checked = reports(team);
                                  return checked;
                                },
                                {.max_lanes = 1, .timeout = std::chrono::milliseconds(300)});
  EXPECT_TRUE(run.well) << run.words;
}

}  // namespace
}  // namespace muster::conformance
