// kill -9 of a rank, at any time: every survivor learns within a second which rank it was, and the
// survivors go on. Under the launcher and as a bare start.
//
// The programs' paths come from the build: FAILURE_VICTIM, and MUSTER_COMMAND where it is built.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "support/board.hpp"
#include "support/child_program.hpp"
#include "support/entries.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using testing::Board;
using testing::BoardRow;
using testing::ChildProgram;
using testing::within;

constexpr std::uint32_t ranks = 4;

enum class Start { bare, launcher };

std::vector<std::string> command_line(Start start, const std::string& board,
                                      const std::string& scenario) {
  const std::vector<std::string> program{FAILURE_VICTIM, board, std::to_string(ranks), scenario};
  if (start == Start::bare) return program;
#ifdef MUSTER_COMMAND
  std::vector<std::string> all{MUSTER_COMMAND, "run", "-n", std::to_string(ranks)};
  all.insert(all.end(), program.begin(), program.end());
  return all;
#else
  return {};
#endif
}

std::string fresh_path() {
  static int number = 0;
  return ::testing::TempDir() + "muster_board_" + std::to_string(getpid()) + "_" +
         std::to_string(number++);
}

// All ranks are in the middle of what they do.
bool all_run(const Board& board) {
  return within(milliseconds(10000), [&] {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (board[rank].pid.load(std::memory_order_acquire) == 0 ||
          board[rank].rounds.load(std::memory_order_relaxed) < 5)
        return false;
    return true;
  });
}

void expect_survivor_knows(const BoardRow& row, std::uint32_t victim, std::int64_t killed_ns) {
  ASSERT_TRUE(within(milliseconds(3000), [&] {
    return row.reported.load(std::memory_order_acquire);
  })) << "its wait has not ended";
  EXPECT_TRUE(row.failed);
  EXPECT_EQ(row.code, ErrorCode::peer_lost) << row.text.data();
  EXPECT_TRUE(row.has_peer) << row.text.data();
  EXPECT_EQ(row.peer, victim) << row.text.data();
  EXPECT_NE(std::string(row.text.data()).find("rank " + std::to_string(victim)), std::string::npos)
      << row.text.data();
  EXPECT_LT(row.at_ns - killed_ns, 1'000'000'000) << "it took longer than a second";
}

void expect_survivor_recovers(const Board& board, std::uint32_t rank, std::uint32_t victim) {
  const BoardRow& row = board[rank];
  ASSERT_TRUE(within(milliseconds(5000), [&] {
    return row.recovered.load(std::memory_order_acquire);
  })) << "the survivors' team does not work";
  EXPECT_EQ(row.new_size, ranks - 1);
  EXPECT_EQ(row.new_rank, rank < victim ? rank : rank - 1);
}

void kill_one(Start start, const std::string& scenario, std::uint32_t victim, milliseconds after) {
  SCOPED_TRACE(scenario + ", rank " + std::to_string(victim));
  const std::set<std::string> shm = testing::shared_memory_of_muster();
  const std::string path = fresh_path();
  const Board board(path, true);
  ChildProgram program(command_line(start, path, scenario));
  ASSERT_TRUE(all_run(board));
  std::this_thread::sleep_for(after);

  const std::int64_t killed_ns = testing::monotonic_ns();
  ASSERT_EQ(kill(board[victim].pid.load(), SIGKILL), 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank == victim) continue;
    SCOPED_TRACE("survivor " + std::to_string(rank));
    expect_survivor_knows(board[rank], victim, killed_ns);
    if (::testing::Test::HasFatalFailure()) return;
    expect_survivor_recovers(board, rank, victim);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(program.wait(milliseconds(10000)), 128 + SIGKILL) << "the rank that failed first";
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    EXPECT_FALSE(testing::process_is_there(board[rank].pid.load()))
        << "rank " << rank << " is left";
  EXPECT_EQ(testing::shared_memory_of_muster(), shm);
}

class Kill : public ::testing::TestWithParam<Start> {
 protected:
  void SetUp() override {
    if (command_line(GetParam(), "", "").empty()) GTEST_SKIP() << "`muster` is not built here";
  }
};

TEST_P(Kill, AnyRankInABarrierLoop) {
  std::mt19937 random(20 + static_cast<unsigned>(GetParam()));
  const char* const kinds[] = {"epoch", "credit", "flip", "counter"};
  for (std::uint32_t victim = 0; victim < ranks; ++victim) {
    kill_one(GetParam(), kinds[victim], victim, milliseconds(random() % 120));
    if (HasFatalFailure()) return;
  }
}

TEST_P(Kill, ARankWhileAllAreAsleep) {
  kill_one(GetParam(), "asleep", 2, milliseconds(1500));
}

TEST_P(Kill, ARankInTheMiddleOfSetUp) {
  std::mt19937 random(7);
  for (const std::uint32_t victim : {0U, 1U, 3U}) {
    kill_one(GetParam(), "setup", victim, milliseconds(random() % 60));
    if (HasFatalFailure()) return;
  }
}

// Two at once: each survivor hears of one of them, and both are left out of the new team.
TEST_P(Kill, TwoRanksAtOnce) {
  const std::string path = fresh_path();
  const Board board(path, true);
  ChildProgram program(command_line(GetParam(), path, "epoch"));
  ASSERT_TRUE(all_run(board));
  kill(board[0].pid.load(), SIGKILL);
  kill(board[2].pid.load(), SIGKILL);
  for (const std::uint32_t rank : {1U, 3U}) {
    const BoardRow& row = board[rank];
    ASSERT_TRUE(within(milliseconds(5000), [&] { return row.recovered.load(); }))
        << row.text.data();
    EXPECT_EQ(row.code, ErrorCode::peer_lost);
    EXPECT_TRUE(row.peer == 0 || row.peer == 2) << row.text.data();
    EXPECT_EQ(row.new_size, 2U);
    EXPECT_EQ(row.new_rank, rank == 1 ? 0U : 1U);
  }
  EXPECT_EQ(program.wait(milliseconds(10000)), 128 + SIGKILL);
}

// The one who started them dies: nothing stays.
TEST_P(Kill, TheOneWhoStartedThem) {
  const std::set<std::string> shm = testing::shared_memory_of_muster();
  const std::string path = fresh_path();
  const Board board(path, true);
  ChildProgram program(command_line(GetParam(), path, "epoch"));
  ASSERT_TRUE(all_run(board));
  kill(program.pid(), SIGKILL);
  EXPECT_EQ(program.wait(milliseconds(1000)), 128 + SIGKILL);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t pid = board[rank].pid.load();
    // Orphans are reaped by whoever adopts them: a zombie is no longer a process that runs.
    EXPECT_TRUE(within(milliseconds(3000),
                       [&] { return !testing::process_is_there(pid) || testing::is_zombie(pid); }))
        << "rank " << rank << " is left";
  }
  EXPECT_EQ(testing::shared_memory_of_muster(), shm);
}

#ifdef MUSTER_COMMAND
// A rank that dies before it has said who it is: only its launcher can tell the others, who wait
// for the team to be complete. They hear of it well before the launcher's grace is over.
TEST(KillEarly, ARankBeforeItJoins) {
  const std::string path = fresh_path();
  const Board board(path, true);
  ChildProgram program({MUSTER_COMMAND, "run", "-n", "3", "sh", "-c",
                        "[ $MUSTER_RANK != 1 ] || kill -9 $$; exec \"$0\" \"$@\"", FAILURE_VICTIM,
                        path, "3", "epoch"});
  EXPECT_EQ(program.wait(milliseconds(4000)), 128 + SIGKILL);
}
#endif

INSTANTIATE_TEST_SUITE_P(Start, Kill, ::testing::Values(Start::bare, Start::launcher),
                         [](const auto& one) {
                           return one.param == Start::bare ? "bare" : "launcher";
                         });

}  // namespace
}  // namespace muster
