// Ranks of the network fabric that die: every survivor's wait returns peer_lost with that rank, in
// time, and what is left goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "conformance/ucx_runner.hpp"
#include "muster/barrier.hpp"
#include "muster/collective.hpp"
#include "support/board.hpp"

namespace muster::conformance {
namespace {

using testing::Board;
using testing::BoardRow;
using testing::monotonic_ns;

constexpr std::uint32_t ranks = 4;
constexpr std::uint32_t victim = 2;

enum class Inside { barrier, puts, reduction };

// Rounds of it until somebody is lost; the victim dies in its fifth.
WaitStatus rounds(ucx::Fabric& fabric, Inside inside, const EpochBarrier& barrier,
                  const AllReduce<float>& sums, WindowRef<float> window, Board& board) {
  for (int round = 0;; ++round) {
    if (fabric.rank() == Rank{victim} && round == 5) {
      board[victim].at_ns = monotonic_ns();
      kill(getpid(), SIGKILL);
    }
    WaitStatus status = WaitStatus::ok;
    if (inside == Inside::puts)
      for_each_peer(fabric, [&](Rank peer) { fabric.put(window, peer, 0, window, 64, 64); });
    if (inside == Inside::reduction)
      status = sums.run(fabric, window, window, 100);
    else
      status = barrier.sync(fabric);
    if (status != WaitStatus::ok) return status;
  }
}

// After the loss: a team of those who are left, and right sums in it.
Result<void> go_on(ucx::Team& team, Board& board) {
  Result<ucx::Team> left = team.shrink();
  if (!left) return left.error();
  BoardRow& row = board[team.rank().value];
  row.new_rank = left->rank().value;
  row.new_size = left->size();
  Checks checks;
  const auto window = *left->window<float>({8});
  const AllReduce<float> sums(*left);
  checks.ok(left->lane([&](auto& fabric) {
    for (int i = 0; i < 8; ++i) fabric.local(window)[i] = 1.0F;
    return sums.run(fabric, window, window, 8);
  }),
            "the sum of those who are left");
  checks.ok(left->lane([&](auto& fabric) {
    checks.equal(fabric.local(window)[7], 3.0F, "the sum");
    return WaitStatus::ok;
  }),
            "a look at it");
  row.recovered.store(true, std::memory_order_release);
  checks.ok(left->close(), "close of those who are left");
  return checks.done();
}

Result<void> lose_one(ucx::Team& team, Inside inside, Board& board) {
  const EpochBarrier barrier(team);
  const auto window = *team.window<float>({128});
  const AllReduce<float> sums(team);
  const Result<void> ended =
      team.lane([&](auto& fabric) { return rounds(fabric, inside, barrier, sums, window, board); });
  board[team.rank().value].report(ended);
  return go_on(team, board);
}

void expect_survivors(const std::string& transport, Inside inside) {
  Board board;
  const UcxRun run =
      run_on_ucx(ranks, transport, [&](ucx::Team& team) { return lose_one(team, inside, board); },
                 {.max_lanes = 1, .timeout = std::chrono::seconds(20)});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank == victim) {
      EXPECT_TRUE(WIFSIGNALED(run.statuses[rank]));
      continue;
    }
    EXPECT_EQ(run.statuses[rank], 0) << run.words;
    ASSERT_TRUE(board[rank].reported.load(std::memory_order_acquire)) << run.words;
    EXPECT_TRUE(board[rank].failed);
    EXPECT_EQ(board[rank].code, ErrorCode::peer_lost) << board[rank].text.data();
    EXPECT_TRUE(board[rank].has_peer && board[rank].peer == victim) << board[rank].text.data();
    EXPECT_LT(board[rank].at_ns - board[victim].at_ns, 1'000'000'000) << board[rank].text.data();
    EXPECT_TRUE(board[rank].recovered.load(std::memory_order_acquire)) << run.words;
    EXPECT_EQ(board[rank].new_size, ranks - 1);
    EXPECT_EQ(board[rank].new_rank, rank < victim ? rank : rank - 1);
  }
}

class UcxLoss : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, UcxLoss, ::testing::Values("posix", "sysv", "tcp"));

TEST_P(UcxLoss, InABarrier) {
  expect_survivors(GetParam(), Inside::barrier);
}
TEST_P(UcxLoss, BehindPuts) {
  expect_survivors(GetParam(), Inside::puts);
}
TEST_P(UcxLoss, InAReduction) {
  expect_survivors(GetParam(), Inside::reduction);
}

// Of an abort all hear, with the reason.
TEST_P(UcxLoss, AbortReachesAll) {
  const UcxRun run = run_on_ucx(3, GetParam(), [](ucx::Team& team) -> Result<void> {
    const Signals signals = *team.signals(2);
    Checks checks;
    const auto ended = team.lane([&](auto& fabric) {
      fabric.notify(signals[0], Rank{1}, 1, NotifyOp::add);
      if (fabric.rank() == Rank{1}) {
        checks.ok(fabric.wait(signals[0], Compare::eq, 3), "the wait for all to be here");
        team.abort("it rains");
      }
      return fabric.wait(signals[1], Compare::eq, 1);  // nobody deposits there
    });
    checks.refused(ended, ErrorCode::aborted, "the wait", "rank 1 called abort: it rains");
    checks.refused(team.sync(), ErrorCode::aborted, "the next set-up call", "it rains");
    return checks.done();
  });
  EXPECT_TRUE(run.well) << run.words;
}

}  // namespace
}  // namespace muster::conformance
