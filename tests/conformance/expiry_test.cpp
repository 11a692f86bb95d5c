// After a wait that has expired: who comes again lets nobody through early, and without
// `.on_expiry = retry` the team has failed.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "muster/muster.hpp"
#include "muster/packet.hpp"
#include "support/board.hpp"
#include "support/checks.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using testing::Checks;

constexpr milliseconds timeout{300};

class Expiry : public ::testing::TestWithParam<RunAs> {
 protected:
  static int run_on(std::uint32_t ranks, OnExpiry on_expiry,
                    const std::function<Result<void>(Team&)>& body) {
    return run({.ranks = ranks, .as = GetParam(), .timeout = timeout, .on_expiry = on_expiry},
               body);
  }
};

// An exchange between all ranks, called as a barrier is.
class Exchanging {
 public:
  explicit Exchanging(Team& team) : exchange_(team) {}
  template <class F>
  WaitStatus sync(F& fabric) const {
    auto tile = fabric.template tile<int, 1, 4>();
    const std::uint32_t flag = exchange_.begin(fabric);
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) { exchange_.put(fabric, flag, peer, tile); });
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, exchange_.wait(fabric, flag, peer, tile));
    });
    return exchange_.end(fabric, flag, status);
  }

 private:
  PacketExchange<int, 1, 4> exchange_;
};

// Rank 0 never comes. Rank 2 gives up and comes again, here and in a later launch, while rank 1
// waits: it must not take rank 2's second deposit for rank 0's first.
template <class Barrier>
Result<void> one_comes_again(Team& team, WaitStatus again) {
  Team part = *team.split(0);  // here the ranks call unequally often, which a verifying run counts
  const Barrier barrier(part);
  const auto end = std::chrono::steady_clock::now() + timeout * 4;
  Checks checks;
  const auto expect = [&](auto& fabric, WaitStatus status, const char* what) {
    const WaitStatus met = barrier.sync(fabric);
    checks.holds(met == status,
                 std::string(what) + " is " + name_of(met) + ", not " + name_of(status) + ": this");
  };
  (void)part.lane([&](auto& fabric) {
    if (fabric.rank() == Rank{1}) {
      std::this_thread::sleep_for(timeout * 2 / 3);
      expect(fabric, WaitStatus::expired, "the call of rank 1");
    } else if (fabric.rank() == Rank{2}) {
      expect(fabric, WaitStatus::expired, "the first call of rank 2");
      expect(fabric, again, "the second call of rank 2");
    }
  });
  (void)part.lane([&](auto& fabric) {
    if (fabric.rank() == Rank{2}) expect(fabric, again, "the call of rank 2 in a later launch");
  });
  if (again == WaitStatus::refused && part.rank() == Rank{2}) {
    const Result<void> ran = part.lane([&](auto& fabric) { return barrier.sync(fabric); });
    checks.refused(ran, ErrorCode::expired, "the lane", "make a new one");
  }
  std::this_thread::sleep_until(end);  // leaving is a barrier, which has the same deadline
  return checks.done();
}

// The lanes of one rank: lane 0 never comes, lane 2 comes again.
Result<void> one_lane_comes_again(Team& team) {
  const GridBarrier barrier(team);
  std::array<WaitStatus, 3> last{};
  (void)team.lanes(3, [&](auto& fabric) {
    const std::uint32_t lane = fabric.lane().value;
    if (lane == 0) return WaitStatus::ok;
    if (lane == 1) std::this_thread::sleep_for(timeout * 2 / 3);
    last[lane] = barrier.sync(fabric);
    if (lane == 2) last[lane] = barrier.sync(fabric);
    return WaitStatus::ok;  // an error would end the others
  });
  Checks checks;
  checks.holds(last[1] == WaitStatus::expired, "lane 1 waits in vain");
  checks.holds(last[2] == WaitStatus::refused, "lane 2 is refused");
  return checks.done();
}

TEST_P(Expiry, WhoComesAgainLetsNobodyThrough) {
  const auto held = [](auto body, WaitStatus again) {
    EXPECT_EQ(run_on(3, retry, [&](Team& team) { return body(team, again); }), 0);
  };
  held(one_comes_again<EpochBarrier>, WaitStatus::expired);
  held(one_comes_again<DisseminationBarrier>, WaitStatus::expired);
  held(one_comes_again<Barrier>, WaitStatus::expired);
  held(one_comes_again<CounterBarrier>, WaitStatus::refused);
  held(one_comes_again<CreditBarrier>, WaitStatus::refused);
  held(one_comes_again<FlipBarrier>, WaitStatus::refused);
  held(one_comes_again<SystemBarrier>, WaitStatus::refused);
  held(one_comes_again<Exchanging>, WaitStatus::refused);
  EXPECT_EQ(run_on(1, retry, one_lane_comes_again), 0);
}

// Rank 0 repeats a call until it succeeds, rank 1 is late and makes each call once. They would be a
// call apart for ever: ok over what was written for another call.
Result<void> one_repeats(Team& team, bool in_one_lane) {
  const auto inbox = *team.window<int>({1});
  const EpochBarrier barrier(team);
  Checks checks;
  const auto call = [&](auto& fabric, int number) {
    if (fabric.rank() == Rank{0}) fabric.address(inbox, Rank{0})[0] = number;
    if (fabric.rank() == Rank{0}) fabric.put(inbox, Rank{1}, 0, inbox, 0, 1);
    return barrier.sync(fabric);
  };
  if (team.rank() == Rank{1}) std::this_thread::sleep_for(timeout * 3 / 2);
  int passed = 0;
  const auto calls = [&](auto& fabric, int first, int last) {
    for (int number = first; number <= last; ++number)
      passed += call(fabric, number) == WaitStatus::ok ? 1 : 0;
  };
  if (in_one_lane)
    (void)team.lane([&](auto& fabric) { calls(fabric, 1, 20); });
  else
    for (int number = 1; number <= 20; ++number)
      (void)team.lane([&](auto& fabric) { calls(fabric, number, number); });
  (void)team.lane([&](auto& fabric) {
    if (fabric.rank() == Rank{1})
      checks.holds(fabric.local(inbox)[0] == 1, "nothing was written after the expired call");
  });
  checks.equal(passed, 0, "calls that said ok");
  checks.refused(team.sync(), ErrorCode::aborted, "a set-up call", "in vain");
  auto survivors = team.shrink();
  if (checks.ok(survivors, "shrink")) checks.ok(survivors->sync(), "sync of the new team");
  return checks.done();
}

// Who loops on a fetched operation polls: it hears that the team has failed, also where each turn
// changes the cell.
TEST_P(Expiry, EndsALoopOfFetchedOperations) {
  for (const bool changes : {true, false}) {
    const int code = run_on(2, OnExpiry::fail, [&](Team& team) {
      const Signals turns = *team.signals(1);
      const Signals never = *team.signals(1);
      return team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{1}) return fabric.wait(never[0], Compare::ge, 1);
        WaitStatus status = WaitStatus::ok;
        while (status == WaitStatus::ok)
          status = fabric.fetch_add(turns[0], Rank{1}, changes ? 1 : 0).status;
        return status;
      });
    });
    EXPECT_EQ(code, 1);
  }
}

TEST_P(Expiry, FailsTheTeam) {
  for (const bool in_one_lane : {true, false})
    EXPECT_EQ(run_on(2, OnExpiry::fail, [&](Team& team) { return one_repeats(team, in_one_lane); }),
              0);
}

// Lane 1 waits in vain and goes on, lane 0 meets the other ranks all the while. What the body says
// of it is the result; a body that says nothing has given nothing up where waits may be tried
// again.
Result<void> one_lane_waits_in_vain(Team& team, OnExpiry on_expiry, bool says) {
  const Signals never = *team.signals(1);
  const EpochBarrier barrier(team);
  Checks checks;
  std::array<WaitStatus, 2> met{};
  const auto body = [&](auto& fabric) {
    WaitStatus& status = met[fabric.lane().value];
    if (fabric.lane() == Lane{1}) {
      status = fabric.wait(never[0], Compare::ge, 1);
    } else {
      std::this_thread::sleep_for(timeout * 3 / 2);
      status = barrier.sync(fabric);
    }
    return status;
  };
  const Result<void> ran =
      says ? team.lanes(2, body) : team.lanes(2, [&](auto& fabric) { (void)body(fabric); });
  const bool goes_on = on_expiry == retry && !says;
  // Where it ends the others, it may end the other rank's lane 1 before that has waited as long.
  if (goes_on) checks.refused(ran, ErrorCode::expired, "the lanes", "waited 300 ms");
  checks.holds(!ran, "the result is what went wrong");
  if (goes_on) checks.ok(met[0], "the barrier of lane 0");
  const Result<void> after = team.sync();
  if (goes_on)
    checks.ok(after, "a set-up call after it");
  else
    checks.refused(after, ErrorCode::aborted, "a set-up call after it", "lane 1");
  if (!goes_on) checks.ok(team.shrink(), "shrink");
  return checks.done();
}

TEST_P(Expiry, InALaneThatSaysNothingEndsNobodyWhereItMayBeTriedAgain) {
  for (const OnExpiry on_expiry : {OnExpiry::fail, retry})
    for (const bool says : {false, true})
      EXPECT_EQ(run_on(2, on_expiry,
                       [&](Team& team) { return one_lane_waits_in_vain(team, on_expiry, says); }),
                0)
          << (on_expiry == retry ? "retry" : "fail") << (says ? ", says" : "");
}

// The reason reaches the others, with the lane that gave up.
TEST_P(Expiry, IsTheReasonThatOthersHear) {
  EXPECT_EQ(run_on(3, OnExpiry::fail,
                   [](Team& team) -> Result<void> {
                     const Signals never = *team.signals(1);
                     Checks checks;
                     if (team.rank() == Rank{1}) std::this_thread::sleep_for(timeout / 2);
                     const Result<void> ran = team.lane([&](auto& fabric) {
                       if (fabric.rank() == Rank{2}) std::this_thread::sleep_for(timeout * 4 / 3);
                       return fabric.wait(never[0], Compare::ge, 1);
                     });
                     if (team.rank() == Rank{0})
                       checks.refused(ran, ErrorCode::expired, "the first to give up", "in vain");
                     else
                       checks.refused(ran, ErrorCode::aborted, "the others", "rank 0 lane 0");
                     auto survivors = team.shrink();
                     checks.ok(survivors, "shrink");
                     return checks.done();
                   }),
            0);
}

// With retry the team goes on where all call equally often.
TEST_P(Expiry, RetryGoesOn) {
  const auto body = [](Team& team) -> Result<void> {
    const EpochBarrier barrier(team);
    Checks checks;
    (void)team.lane([&](auto& fabric) {
      const bool late = fabric.rank() == Rank{1};
      if (late) std::this_thread::sleep_for(timeout * 2);
      const WaitStatus first = barrier.sync(fabric);
      checks.holds(first == (late ? WaitStatus::ok : WaitStatus::expired), "the first call");
      if (!late) std::this_thread::sleep_for(timeout * 3 / 2);
      checks.ok(barrier.sync(fabric), "the second call");
    });
    checks.ok(team.sync(), "sync");
    return checks.done();
  };
  EXPECT_EQ(run_on(2, retry, body), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Expiry, ::testing::Values(threads, processes), [](const auto& test) {
  return test.param == threads ? "threads" : "processes";
});

}  // namespace
}  // namespace muster
