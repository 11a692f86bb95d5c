// How failures that nobody dies of are reported: abort, deadlines; and what waiting and memory
// cost.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "conformance/failures.hpp"
#include "muster/muster.hpp"
#include "support/entries.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using testing::Board;
using testing::Checks;

INSTANTIATE_TEST_SUITE_P(As, Failures, ::testing::Values(threads, processes), name_of_start);

// abort(reason) ends the waits of all, those that sleep too, with that reason; then shrink() gives
// all of them a team that works.
TEST_P(Failures, AbortReachesAllWithItsReason) {
  expect_held(5, [](Team& team) -> Result<void> {
    const Signals never = *team.signals(1);
    const EpochBarrier barrier(team);
    const std::uint32_t rank = team.rank().value;
    Checks checks;
    if (rank == 3) {
      std::this_thread::sleep_for(milliseconds(300));  // the others sleep by now
      team.abort("the cat sat on the keyboard");
    }
    const std::int64_t before = testing::monotonic_ns();
    const Result<void> ran = team.lane([&](auto& fabric) {
      return rank % 2 == 0 ? fabric.wait(never[0], Compare::ge, 1) : barrier.sync(fabric);
    });
    const std::int64_t took_ns = testing::monotonic_ns() - before;
    checks.refused(ran, ErrorCode::aborted, "the wait", "the cat sat on the keyboard", "rank 3");
    checks.holds(took_ns < 1'300'000'000, "all hear of it within a second");
    checks.refused(team.sync(), ErrorCode::aborted, "a set-up call afterwards", "the cat sat");

    auto again = team.shrink();
    if (!checks.ok(again, "shrink")) return checks.done();
    checks.equal(again->size(), 5, "nobody died");
    checks.equal(again->rank().value, rank, "the rank");
    checks.ok(again->sync(), "sync of the new team");
    const EpochBarrier fresh(*again);
    checks.ok(again->lane([&](auto& fabric) { return fresh.sync(fabric); }), "its barrier");
    return checks.done();
  });
}

// A reason that is too long to keep says that it was cut, between two characters.
TEST_P(Failures, ALongReasonIsCutWithAMark) {
  const auto heard = [this](const std::string& reason) {
    std::string what;
    const Board board;
    (void)run({.ranks = 1, .as = GetParam()}, [&](Team& team) {
      team.abort(reason);
      board[0].report(team.sync());
    });
    return std::string(board[0].text.data());
  };
  const auto cut = [](const std::string& text) { return text.find("...") != std::string::npos; };
  const auto times = [](const std::string& text, char letter) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), letter));
  };
  std::size_t longest = 0;  // that is kept whole
  for (std::size_t size = 470; size <= 490; ++size) {
    const std::string text = heard(std::string(size, '#'));
    if (cut(text)) {
      EXPECT_EQ(times(text, '#'), longest - 3) << text;
      break;
    }
    EXPECT_EQ(times(text, '#'), size) << text;
    longest = size;
  }
  EXPECT_GE(longest, 470U);
  EXPECT_LT(longest, 490U);
  EXPECT_EQ(times(heard(std::string(5000, '#')), '#'), longest - 3);
  for (const char* before : {"", "-"}) {
    std::string long_one = before;
    for (int i = 0; i < 400; ++i) long_one += "\u00e9";
    const std::string text = heard(long_one);
    EXPECT_TRUE(cut(text)) << text;
    EXPECT_EQ(times(text, '\xc3'), times(text, '\xa9')) << text;
  }
}

// The one that was late and the one that gave up would be a call apart, were the team to go on.
TEST_P(Failures, ASetUpCallThatExpiredFailsTheTeam) {
  const auto body = [](Team& team) -> Result<void> {
    Checks checks;
    const bool late = team.rank() == Rank{1};
    if (late) std::this_thread::sleep_for(milliseconds(700));
    const auto first = team.signals(1);
    checks.refused(first, late ? ErrorCode::aborted : ErrorCode::expired, "signals(1)");
    checks.refused(team.signals(1), ErrorCode::aborted, "signals(1) once more");
    if (!late) std::this_thread::sleep_for(milliseconds(500));
    auto survivors = team.shrink();
    if (!checks.ok(survivors, "shrink")) return checks.done();
    checks.ok(survivors->sync(), "sync of those that are left");
    return checks.done();
  };
  expect_held(2, body, milliseconds(400));
}

// A part of the job that recovers by itself: the others, and the job's end, know nothing of it.
TEST_P(Failures, AShrunkPartLeavesTheJobsTeamAsItIs) {
  EXPECT_EQ(expect_held(
                4,
                [](Team& team) -> Result<void> {
                  Checks checks;
                  auto half = *team.split(static_cast<std::int32_t>(team.rank().value / 2));
                  if (team.rank().value < 2) {
                    if (team.rank() == Rank{0}) half.abort("this half has had enough");
                    auto rest = half.shrink();
                    if (checks.ok(rest, "shrink of a half"))
                      checks.ok(rest->sync(), "sync of what is left of it");
                  }
                  checks.ok(team.sync(), "sync of all");
                  return checks.done();
                },
                milliseconds(3000)),
            0);
}

TEST_P(Failures, ABodysErrorEndsTheOthers) {
  const RunOptions options{.ranks = 3, .as = GetParam(), .timeout = std::chrono::seconds(20)};
  const Board board;
  const int status = run(options, [&](Team& team) -> Result<void> {
    if (team.rank() == Rank{1}) return Error{.what = "rank 1 has had enough"};
    const Result<void> met = team.sync();
    board[team.rank().value].report(met);
    return {};
  });
  EXPECT_EQ(status, 1);
  for (const std::uint32_t rank : {0U, 2U}) {
    EXPECT_EQ(board[rank].code, ErrorCode::aborted);
    EXPECT_NE(std::string(board[rank].text.data()).find("rank 1 has had enough"), std::string::npos)
        << board[rank].text.data();
  }
}

// A body that throws Failure (an error Result used as a value), and one with a code of its own.
TEST_P(Failures, FailureAndCodesReachTheCaller) {
  const RunOptions options{.ranks = 2, .as = GetParam(), .timeout = std::chrono::seconds(20)};
  EXPECT_EQ(run(options, [](Team& team) { (void)*team.window<float>({-1}); }), 1);
  EXPECT_EQ(run(options, [](Team& team) { return team.rank() == Rank{1} ? 7 : 0; }), 7);
  EXPECT_EQ(run(options, [](Team&) { return WaitStatus::ok; }), 0);
  EXPECT_EQ(run(options, [](Team&) { return WaitStatus::expired; }), 1);
}

// An expired wait names rank, lane, peer, cell, seen and expected, in fields and in words.
TEST_P(Failures, AnExpiredWaitSaysWhatItWaitedFor) {
  expect_held(
      2,
      [](Team& team) -> Result<void> {
        const Rows rows = *team.rows();
        const std::uint32_t cell = rows.from(Lane{1}, Rank{0}).cell;
        Checks checks;
        if (team.rank() == Rank{0}) {
          std::this_thread::sleep_for(milliseconds(1800));
          return checks.done();
        }
        const Result<void> ran = team.lanes(2, [&](auto& fabric) {
          if (fabric.lane() == Lane{0}) return WaitStatus::ok;
          fabric.notify(rows.from(Lane{1}, Rank{0}), Rank{1}, 4, NotifyOp::set);
          return fabric.wait(rows.from(Lane{1}, Rank{0}), Compare::ge, 5);
        });
        if (!checks.refused(ran, ErrorCode::expired, "the wait", "rank 0")) return checks.done();
        const Error& error = ran.error();
        checks.holds(error.rank == Rank{1}, "names the rank");
        checks.holds(error.lane == Lane{1}, "names the lane");
        checks.holds(error.peer == Rank{0}, "names the peer");
        checks.holds(error.cell == cell, "names the cell");
        checks.holds(error.seen == 4U, "names what it saw");
        checks.holds(error.expected == 5U, "names what it expected");
        const std::string text = to_string(error);
        for (const std::string& word :
             {std::string("rank 1"), std::string("lane 1"), "cell " + std::to_string(cell),
              std::string("4"), std::string("5"), std::string("expired")})
          checks.mentions(text, word, "the line");
        return checks.done();
      },
      milliseconds(1500));
}

constexpr std::int64_t window_ns = 3'000'000'000;

[[nodiscard]] std::int64_t cpu_ns(pthread_t thread) {
  clockid_t clock{};
  timespec used{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
  return used.tv_sec * 1'000'000'000LL + used.tv_nsec;
}

// A rank that has waited for a second takes less than 1 % of a core.
TEST_P(Failures, ALongWaitCostsNoCpuTime) {
  EXPECT_EQ(expect_held(4,
                        [](Team& team) -> Result<void> {
                          const Signals go = *team.signals(1);
                          Checks checks;
                          std::int64_t used_ns = 0;
                          const pthread_t waiter = pthread_self();
                          std::thread watcher([&] {
                            std::this_thread::sleep_for(milliseconds(1000));
                            const std::int64_t before = cpu_ns(waiter);
                            std::this_thread::sleep_for(std::chrono::nanoseconds(window_ns));
                            used_ns = cpu_ns(waiter) - before;
                          });
                          const Result<void> ran = team.lane([&](auto& fabric) {
                            if (fabric.rank() != Rank{0}) return fabric.wait(go[0], Compare::ge, 1);
                            std::this_thread::sleep_for(milliseconds(4500));
                            for_each_peer(fabric, [&](Rank peer) {
                              fabric.notify(go[0], peer, 1, NotifyOp::set);
                            });
                            return WaitStatus::ok;
                          });
                          watcher.join();
                          checks.ok(ran, "the wait");
                          checks.holds(used_ns >= 0, "the clock of the waiting thread");
                          checks.holds(used_ns < window_ns / 100,
                                       "less than 1 % of a core, used " +
                                           std::to_string(used_ns / 1000) + " us in 3 s: this");
                          return checks.done();
                        }),
            0);
}

// What the descriptors of this process name.
std::multiset<std::string> open_files() {
  std::multiset<std::string> targets;
  for (const std::string& name : testing::entries_of("/proc/self/fd")) {
    char target[4096] = {};
    const ssize_t length = readlink(("/proc/self/fd/" + name).c_str(), target, sizeof(target) - 1);
    if (length > 0) targets.insert(std::string(target, static_cast<std::size_t>(length)));
  }
  return targets;
}

std::size_t threads_of_this_process() {
  return testing::entries_of("/proc/self/task").size();
}

// The job's memory has no name, and nobody else may open it; afterwards nothing is left.
TEST_P(Failures, MemoryIsAnonymousAndGoes) {
  const std::set<std::string> shm = testing::shared_memory_of_muster();
  const std::multiset<std::string> files = open_files();
  const std::size_t running = threads_of_this_process();
  EXPECT_EQ(expect_held(3,
                        [&](Team& team) -> Result<void> {
                          (void)*team.window<double>({1000});
                          Checks checks;
                          checks.holds(testing::shared_memory_of_muster() == shm,
                                       "/dev/shm is as it was");
                          int memory_files = 0;
                          for (const std::string& name : testing::entries_of("/proc/self/fd")) {
                            const std::string path = "/proc/self/fd/" + name;
                            char target[256] = {};
                            if (readlink(path.c_str(), target, sizeof(target) - 1) <= 0) continue;
                            if (std::string(target).find("memfd:muster") == std::string::npos)
                              continue;
                            struct stat status {};
                            checks.equal(stat(path.c_str(), &status), 0, "stat");
                            checks.equal(status.st_mode & 0777, 0600U, "the mode");
                            ++memory_files;
                          }
                          checks.holds(memory_files > 0, "the memory is found among the files");
                          return checks.done();
                        }),
            0);
  EXPECT_EQ(testing::shared_memory_of_muster(), shm);
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(threads_of_this_process(), running);
}

}  // namespace
}  // namespace muster
