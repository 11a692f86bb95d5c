// Set-up and lanes exclude each other, and one thread at a time runs a team's lanes: a call that
// comes at the wrong time is refused with a sentence, does no harm, and is no mismatch.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/bad_input.hpp"
#include "muster/muster.hpp"

namespace muster {
namespace {

// What is refused here is no matter of what a run looks at: verifying, it must tell no mismatch.
class SetUpInLanes : public BadInputOf<Looks::all> {};

INSTANTIATE_TEST_SUITE_P(As, SetUpInLanes, ::testing::Values(threads, processes), name_of_way);

// What was there before the lanes began.
struct Before {
  WindowRef<float> window;
  Rows rows;
  Signals signals;
};

using SetUpCall = std::function<Result<void>(Team&, const Before&)>;

template <class T>
Result<void> outcome(const Result<T>& result) {
  return result.has_value() ? Result<void>() : Result<void>(result.error());
}

// Every set-up call, and a word of what its error names.
const std::vector<std::pair<std::string, SetUpCall>>& set_up_calls() {
  static const std::vector<std::pair<std::string, SetUpCall>> calls = {
      {"window of {4} float32",
       [](Team& t, const Before&) { return outcome(t.window<float>({4})); }},
      {"allocate of 64", [](Team& t, const Before&) { return outcome(t.allocate(64)); }},
      {"window_on",
       [](Team& t, const Before&) {
         float memory[4] = {};
         return outcome(t.window_on(&memory[0], {4}));
       }},
      {"rows", [](Team& t, const Before&) { return outcome(t.rows()); }},
      {"signals(3)", [](Team& t, const Before&) { return outcome(t.signals(3)); }},
      {"free of the window", [](Team& t, const Before& b) { return t.free(b.window); }},
      {"free of the signals", [](Team& t, const Before& b) { return t.free(b.rows); }},
      {"free of the signals", [](Team& t, const Before& b) { return t.free(b.signals); }},
      {"sync()", [](Team& t, const Before&) { return t.sync(); }},
      {"split", [](Team& t, const Before&) { return outcome(t.split(0)); }},
      {"close()", [](Team& t, const Before&) { return t.close(); }},
      {"shrink()", [](Team& t, const Before&) { return outcome(t.shrink()); }},
  };
  return calls;
}

void expect_refusals(Checks& checks, Team& team, const Before& before) {
  for (const auto& [what, call] : set_up_calls())
    checks.refused(call(team, before), ErrorCode::invalid_argument, what, what,
                   "lanes of this team are running", "outside of lanes");
}

// Nothing of it has left a trace: the team goes on, and what it had is still there.
void expect_whole(Checks& checks, Team& team, const Before& before) {
  checks.ok(team.sync(), "sync afterwards");
  const EpochBarrier barrier(before.rows);
  checks.ok(team.lane([&](auto& fabric) {
    fabric.local(before.window)[0] = 1;
    return barrier.sync(fabric);
  }),
            "a lane afterwards");
  checks.ok(team.free(before.signals), "free afterwards");
  checks.ok(team.window<float>({4}), "a window afterwards");
}

TEST_P(SetUpInLanes, IsRefused) {
  for (const std::uint32_t lanes : {1U, 3U}) {
    expect_held([lanes](Team& team) -> Result<void> {
      const Before before{*team.window<float>({4}), *team.rows(), *team.signals(1)};
      Checks checks;
      checks.ok(team.lanes(lanes,
                           [&](auto& fabric) -> Result<void> {
                             Checks mine;
                             expect_refusals(mine, team, before);
                             (void)fabric;
                             return mine.done();
                           }),
                "the lanes");
      expect_whole(checks, team, before);
      return checks.done();
    });
  }
}

// One thread waits in a lane for what the other does meanwhile.
void while_a_lane_runs(Checks& checks, Team& team, const std::function<void()>& meanwhile) {
  std::atomic<bool> runs = false;
  std::atomic<bool> done = false;
  Result<void> ran;
  std::thread other([&] {
    ran = team.lane([&](auto&) {
      runs = true;
      runs.notify_one();
      done.wait(false);
    });
  });
  runs.wait(false);
  meanwhile();
  done = true;
  done.notify_one();
  other.join();
  checks.ok(ran, "the lane of the other thread");
}

TEST_P(SetUpInLanes, IsRefusedToAnotherThread) {
  expect_held([](Team& team) -> Result<void> {
    const Before before{*team.window<float>({4}), *team.rows(), *team.signals(1)};
    Checks checks;
    while_a_lane_runs(checks, team, [&] { expect_refusals(checks, team, before); });
    expect_whole(checks, team, before);
    return checks.done();
  });
}

// The failed team's memory is given back when the lanes are done with it.
TEST_P(SetUpInLanes, CloseOfAFailedTeamIsRefusedInThem) {
  expect_held([](Team& team) -> Result<void> {
    Team part = *team.split(0);
    part.abort("as the test wants it");
    Checks checks;
    checks.ok(part.lane([&](auto&) -> Result<void> {
      Checks mine;
      mine.refused(part.close(), ErrorCode::invalid_argument, "close", "outside of lanes");
      return mine.done();
    }),
              "the lane");
    checks.ok(part.close(), "close afterwards");
    return checks.done();
  });
}

TEST_P(SetUpInLanes, LanesAreRunByOneCallAtATime) {
  expect_held([](Team& team) -> Result<void> {
    const Before before{*team.window<float>({4}), *team.rows(), *team.signals(1)};
    const EpochBarrier barrier(before.rows);
    const auto refused = [&](Checks& checks) {
      bool ran = false;
      const auto body = [&](auto& fabric) {
        ran = true;
        return barrier.sync(fabric);
      };
      checks.refused(team.lane(body), ErrorCode::invalid_argument, "a second lane",
                     "running already", "one call");
      checks.refused(team.lanes(2, body), ErrorCode::invalid_argument, "more lanes",
                     "running already", "one call");
      checks.holds(!ran, "its body did not run");
    };
    Checks checks;
    while_a_lane_runs(checks, team, [&] { refused(checks); });
    checks.ok(team.lane([&](auto&) -> Result<void> {
      Checks mine;
      refused(mine);
      return mine.done();
    }),
              "the lane around it");
    expect_whole(checks, team, before);
    return checks.done();
  });
}

// Two threads that run lanes of one team as they like: each call runs, or is refused. A run that
// verifies compares what ranks describe; calls that went over each other were told as a mismatch.
TEST_P(SetUpInLanes, TwoThreadsAreNoMismatch) {
  expect_held([](Team& team) -> Result<void> {
    std::vector<Checks> checks(2);
    // A call that is refused is made again: so all ranks make as many, and a mismatch is a false
    // one.
    const auto run_many = [&](Checks& mine) {
      for (int turn = 0; turn < 2000 && mine.done();) {
        const Result<void> ran = team.lane([&](auto& fabric) {
          describe(fabric, CallSignature{"one of many", {CallSignature::no_cell, 0}});
        });
        if (ran) {
          ++turn;
          continue;
        }
        mine.refused(ran, ErrorCode::invalid_argument, "a call that came in between",
                     "running already");
        std::this_thread::yield();
      }
    };
    std::thread other([&] { run_many(checks[1]); });
    run_many(checks[0]);
    other.join();
    checks[0].ok(checks[1].done(), "the other thread");
    checks[0].ok(team.sync(), "sync afterwards");
    return checks[0].done();
  });
}

// Lanes of one team may set up and run another's, which is none of theirs.
TEST_P(SetUpInLanes, AnotherTeamsIsFine) {
  expect_held([](Team& team) -> Result<void> {
    Team part = *team.split(0);
    Checks checks;
    checks.ok(team.lane([&](auto&) -> Result<void> {
      Checks mine;
      const auto rows = part.rows();
      mine.ok(rows, "rows of the other team");
      mine.ok(part.sync(), "sync of the other team");
      if (rows)
        mine.ok(part.lane([barrier = EpochBarrier(*rows)](auto& f) { return barrier.sync(f); }),
                "a lane of the other team");
      return mine.done();
    }),
              "the lane");
    checks.ok(team.sync(), "sync afterwards");
    return checks.done();
  });
}

}  // namespace
}  // namespace muster
