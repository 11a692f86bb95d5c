// The threads that lanes run on: they stay from call to call, and survive what bodies do.
#include "team/lane_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "muster/run.hpp"

namespace muster {
namespace {

// Runs each of the lanes once, and says on which thread.
std::vector<std::thread::id> threads_of(LanePool& pool, std::uint32_t lanes) {
  std::vector<std::thread::id> ids(lanes);
  pool.grow(lanes);
  pool.run(lanes, [&](std::uint32_t lane) { ids[lane] = std::this_thread::get_id(); });
  return ids;
}

TEST(LanePool, KeepsItsThreadsAndGrows) {
  LanePool pool;
  const auto two = threads_of(pool, 2);
  const auto five = threads_of(pool, 5);
  const auto again = threads_of(pool, 3);
  EXPECT_EQ(std::set(five.begin(), five.end()).size(), 5U);
  EXPECT_EQ(five[0], std::this_thread::get_id());
  EXPECT_EQ(two, std::vector(five.begin(), five.begin() + 2));
  EXPECT_EQ(again, std::vector(five.begin(), five.begin() + 3));
  EXPECT_EQ(threads_of(pool, 1).front(), std::this_thread::get_id());
}

// What lanes write in one call, the caller and the lanes of the next see; all lanes run at once.
TEST(LanePool, OrdersCalls) {
  LanePool pool;
  pool.grow(4);
  std::vector<std::uint64_t> sums(4);
  for (std::uint64_t call = 1; call <= 100; ++call) {
    std::atomic<std::uint32_t> here = 0;
    pool.run(4, [&](std::uint32_t lane) {
      ++here;
      while (here < 4) std::this_thread::yield();
      const std::uint64_t seen = sums[(lane + 1) % 4];  // another lane's, of the last call
      ++here;
      while (here < 8) std::this_thread::yield();
      sums[lane] = seen + call;
    });
    ASSERT_EQ(sums, std::vector<std::uint64_t>(4, call * (call + 1) / 2));
  }
}

// Runs `body` in a child, and says how it ended: 0 where it returned true.
int status_of_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(LanePool, SurvivesFork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer starts no threads after a fork of several";
#endif
  auto pool = std::make_unique<LanePool>();
  const auto parents = threads_of(*pool, 3);
  EXPECT_EQ(status_of_child([&] {
              const bool runs = threads_of(*pool, 4).size() == 4;
              pool.reset();  // joins its own, and none of the parent's
              return runs;
            }),
            0);
  EXPECT_EQ(status_of_child([&] {
              pool.reset();
              return true;
            }),
            0);
  EXPECT_EQ(threads_of(*pool, 3), parents);
}

// exit() in a lane runs the destructors of static objects while the other lanes go on.
TEST(LanePool, SurvivesExitInALane) {
  for (const std::uint32_t leaver : {0U, 1U}) {
    EXPECT_EQ(status_of_child([leaver] {
                static LanePool pool;
                pool.grow(3);
                pool.run(3, [leaver](std::uint32_t lane) {
                  if (lane == leaver) std::exit(7);
                  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
                });
                return false;
              }),
              7)
        << "lane " << leaver;
  }
}

TEST(LanePool, GoesOnWithoutAThreadThatCannotBeStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer wants more addresses than a limit leaves";
#else
  EXPECT_EQ(status_of_child([] {
              LanePool pool;
              pool.grow(2);
              std::uint64_t pages = 0;
              std::ifstream("/proc/self/statm") >> pages;
              const rlim_t room = pages * 4096 + (40U << 20U);  // for a few stacks
              const rlimit limit{room, room};
              setrlimit(RLIMIT_AS, &limit);
              try {
                pool.grow(200);
                return false;
              } catch (const std::system_error&) {
              }
              const std::uint32_t there = pool.lanes();
              return there >= 2 && there < 200 && threads_of(pool, there).size() == there;
            }),
            0);
#endif
}

// Through the team: a body that throws is an error of its call alone.
TEST(LanePool, SurvivesExceptions) {
  const int status = run({.ranks = 1, .as = threads, .lanes = 3}, [](Team& team) -> Result<void> {
    std::vector<std::thread::id> ids(3);
    const auto note = [&](auto& fabric) { ids[fabric.lane().value] = std::this_thread::get_id(); };
    if (auto first = team.lanes(3, note); !first) return first;
    const auto before = ids;
    Team part = *team.split(0);  // whose failure is its own
    const auto thrown = part.lanes(3, [](auto& fabric) {
      if (fabric.lane() == Lane{1}) throw std::runtime_error("as the test wants it");
    });
    if (thrown) return Error{ErrorCode::aborted, "the exception is lost"};
    if (auto second = team.lanes(3, note); !second) return second;
    return ids == before ? Result<void>() : Error{ErrorCode::aborted, "other threads"};
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muster
