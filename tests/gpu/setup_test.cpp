// The host side of the GPU fabric, as far as it goes without a GPU: the bootstrap between
// processes, and how a kernel's record becomes an error.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/report.hpp"
#include "fabric/gpu/state.hpp"

namespace {

using namespace muster;

// Forks one child for each bootstrap, which exits with what body(bootstrap) returns; the statuses.
template <class Body>
std::vector<int> in_children(std::uint32_t processes, Body body) {
  std::vector<gpu::Bootstrap> bootstraps = gpu::make_bootstraps(processes).value();
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::uint32_t other = 0; other < processes; ++other)
        if (other != i) gpu::close_bootstrap(bootstraps[other]);
      _exit(body(bootstraps[i]));
    }
    children.push_back(child);
  }
  for (gpu::Bootstrap& bootstrap : bootstraps) gpu::close_bootstrap(bootstrap);
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
  }
  return statuses;
}

TEST(GpuBootstrap, EverybodysValueReachesEverybody) {
  for (const std::uint32_t processes : {1U, 2U, 5U}) {
    const auto statuses = in_children(processes, [&](const gpu::Bootstrap& bootstrap) {
      for (std::uint64_t round = 0; round < 50; ++round) {
        const auto all = gpu::gather_all(bootstrap, 1000 * round + bootstrap.process);
        for (std::uint32_t i = 0; i < processes; ++i)
          if (all[i] != 1000 * round + i) return 1;
        gpu::meet(bootstrap);
      }
      return 0;
    });
    EXPECT_EQ(statuses, std::vector<int>(processes, 0));
  }
}

TEST(GpuBootstrap, DescriptorsPassAmongBytes) {
  const auto statuses = in_children(3, [](const gpu::Bootstrap& bootstrap) {
    // Each passes the read end of a pipe of its own, between two plain exchanges.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 1;
    const char mine = static_cast<char>('a' + bootstrap.process);
    for (int i = 0; i < 2; ++i)
      if (write(ends[1], &mine, 1) != 1) return 2;
    (void)gpu::gather_all(bootstrap, 7);
    for (std::uint32_t other = 0; other < 3; ++other)
      if (other != bootstrap.process) gpu::send_descriptor(bootstrap, other, ends[0]);
    for (std::uint32_t other = 0; other < 3; ++other) {
      if (other == bootstrap.process) continue;
      const int theirs = gpu::receive_descriptor(bootstrap, other);
      if ((fcntl(theirs, F_GETFD) & FD_CLOEXEC) == 0) return 3;
      char byte = 0;
      if (read(theirs, &byte, 1) != 1 || byte != static_cast<char>('a' + other)) return 4;
      close(theirs);
    }
    const auto all = gpu::gather_all(bootstrap, bootstrap.process);
    return all[2] == 2 ? 0 : 5;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(GpuBootstrap, AProcessThatHasGoneIsAnError) {
  const auto statuses = in_children(2, [](const gpu::Bootstrap& bootstrap) {
    if (bootstrap.process == 1) return 0;  // and its sockets close
    try {
      gpu::meet(bootstrap);
      gpu::meet(bootstrap);
    } catch (const Failure& failure) {
      return std::strstr(failure.what(), "process 1") != nullptr ? 0 : 1;
    }
    return 2;
  });
  EXPECT_EQ(statuses, std::vector<int>(2, 0));
}

// Whoever has used up what it may open hears that, and not that the other has gone.
TEST(GpuBootstrap, NoDescriptorLeft) {
  const auto statuses = in_children(2, [](const gpu::Bootstrap& bootstrap) {
    if (bootstrap.process == 0) {
      gpu::send_descriptor(bootstrap, 1, 0);
      gpu::meet(bootstrap);
      return 0;
    }
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
    try {
      (void)gpu::receive_descriptor(bootstrap, 0);
      return 2;
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::system) return 3;
      if (std::strstr(failure.what(), "ulimit -n") == nullptr) return 4;
    }
    gpu::meet(bootstrap);
    return 0;
  });
  EXPECT_EQ(statuses, std::vector<int>(2, 0));
}

TEST(GpuBootstrap, NoProcesses) {
  EXPECT_EQ(gpu::make_bootstraps(0).error().code, ErrorCode::invalid_argument);
}

gpu::ErrorRecord record_of(gpu::Operation operation, WaitStatus status) {
  gpu::ErrorRecord record;
  std::memset(&record, 0xff, sizeof(record));  // unknown
  record.operation = static_cast<std::uint32_t>(operation);
  record.status = static_cast<std::uint32_t>(status);
  record.rank = 2;
  record.lane = 1;
  record.block = 9;
  record.thread = 3;
  return record;
}

TEST(GpuReport, AnExpiredWaitNamesEverything) {
  gpu::World::State state;
  state.known_rows.push_back(Rows{Signal{0, 64}, Counter{0, 96}, 4, 3});
  gpu::ErrorRecord record = record_of(gpu::Operation::wait, WaitStatus::expired);
  record.segment = 0;
  record.cell = 64 + 1 * 3 + 2;  // lane 1, writer 2
  record.seen = 6;
  record.compare = static_cast<std::uint32_t>(Compare::ge);
  record.expected = 7;
  const Error error = gpu::error_of(state, record);
  EXPECT_EQ(error.code, ErrorCode::expired);
  EXPECT_EQ(error.rank, Rank{2});
  EXPECT_EQ(error.lane, Lane{1});
  EXPECT_EQ(error.peer, Rank{2});
  EXPECT_EQ(error.cell, 69U);
  EXPECT_EQ(error.seen, 6U);
  EXPECT_EQ(error.expected, 7U);
  EXPECT_NE(error.what.find("never >= 7"), std::string::npos) << error.what;
  EXPECT_NE(error.what.find("block 9, thread 3"), std::string::npos) << error.what;
}

TEST(GpuReport, ACellOutsideOfRowsHasNoKnownWriter) {
  gpu::World::State state;
  state.known_rows.push_back(Rows{Signal{0, 64}, Counter{0, 96}, 4, 3});
  gpu::ErrorRecord record = record_of(gpu::Operation::wait, WaitStatus::expired);
  record.cell = 64 + 4 * 3;
  record.segment = 0;
  EXPECT_FALSE(gpu::error_of(state, record).peer.has_value());
  record.cell = 64;
  record.segment = 1;
  EXPECT_FALSE(gpu::error_of(state, record).peer.has_value());
}

TEST(GpuReport, AnAbortGivesItsReason) {
  gpu::World::State state;
  state.reason = "somebody pulled the plug";
  const Error error = gpu::error_of(state, record_of(gpu::Operation::take, WaitStatus::aborted));
  EXPECT_EQ(error.code, ErrorCode::aborted);
  EXPECT_NE(error.what.find("somebody pulled the plug"), std::string::npos) << error.what;
}

TEST(GpuReport, WrongArgumentsSayWhich) {
  gpu::World::State state;
  for (const auto operation :
       {gpu::Operation::launch, gpu::Operation::window, gpu::Operation::tile,
        gpu::Operation::transfer, gpu::Operation::packets, gpu::Operation::notify}) {
    const Error error = gpu::error_of(state, record_of(operation, WaitStatus::invalid));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_FALSE(error.expected.has_value());
    EXPECT_GT(error.what.size(), 20U);
  }
}

// Each cause has a text of its own, with the numbers of its record.
TEST(GpuReport, EachCauseHasItsNumbers) {
  using gpu::Cause;
  using gpu::Operation;
  struct Case {
    Operation operation;
    Cause cause;
    std::int64_t number[6];
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {Operation::launch, Cause::lanes, {12}, {"more lanes run, 12,", "the 8 that the world"}},
      {Operation::launch, Cause::grid, {5, 2}, {"a grid of 5 blocks", "the 2 ranks"}},
      {Operation::launch, Cause::coordinates, {9, 1, 4}, {"lane 1 of 4 of rank 9", "3 ranks"}},
      {Operation::launch,
       Cause::threads,
       {0, 256, 128, 7, 1},
       {"the threads 0 to 255 of its block", "gave the block 128", "thread 7", "Block<N>"}},
      {Operation::launch, Cause::threads, {32, 64, 128, 7, 16}, {"named barrier 16"}},
      {Operation::team, Cause::ranks, {}, {"at most 8 ranks", "Ranks::many"}},
      {Operation::tile, Cause::too_few, {16, 32}, {"a lane of 16 threads", "at least 32"}},
      {Operation::notify, Cause::rank, {}, {"notify(): rank 5: the team has 3"}},
      {Operation::wait, Cause::cell, {64}, {"cell 77 of segment 1, which has 64 cells"}},
      {Operation::tile, Cause::team, {0xbeef}, {"tile: a window of team 0000beef"}},
      {Operation::window,
       Cause::segment,
       {4096, 10, 4, 256, 1024},
       {"10 elements of 4 bytes at offset 4096 of segment 1", "from 256 to 1024"}},
      {Operation::tile,
       Cause::box,
       {7, 0, 4, 4, 8, 8},
       {"the box of 4 x 4 at (7, 0) of a window of 8 x 8"}},
      {Operation::transfer, Cause::box, {0, 60, 1, 5, 1, 64}, {"5 elements from 60 on", "has 64"}},
      {Operation::packets, Cause::box, {0, 1, 1, 4, 1, 4}, {"4 lines from 1 on", "have 4"}},
      {Operation::transfer, Cause::overlap, {4, 0, 8}, {"8 elements from 0 to 4 overlap"}},
  };
  gpu::World::State state;
  state.lanes = 8;
  state.ranks = 3;
  for (const Case& one : cases) {
    gpu::ErrorRecord record = record_of(one.operation, WaitStatus::invalid);
    record.cause = static_cast<std::uint32_t>(one.cause);
    std::copy(std::begin(one.number), std::end(one.number), record.number);
    record.peer = 5;
    record.segment = 1;
    record.cell = 77;
    const std::string what = gpu::error_of(state, record).what;
    for (const std::string& words : one.words)
      EXPECT_NE(what.find(words), std::string::npos) << what << "\nlacks: " << words;
  }
}

TEST(GpuRange, KnowsWhatItHasHandedOut) {
  gpu::Range range(10, 100);
  EXPECT_FALSE(range.has(10, 1));
  ASSERT_EQ(range.take(20, 1), 10U);
  ASSERT_EQ(range.take(20, 1), 30U);
  EXPECT_TRUE(range.has(10, 20));
  EXPECT_TRUE(range.has(15, 15));
  EXPECT_TRUE(range.has(49, 1));
  EXPECT_FALSE(range.has(9, 1));
  EXPECT_FALSE(range.has(10, 21));  // over two pieces
  EXPECT_FALSE(range.has(50, 1));
  EXPECT_FALSE(range.has(15, ~std::uint64_t{0}));
  EXPECT_TRUE(range.release(10));
  EXPECT_FALSE(range.has(10, 1));
}

TEST(GpuRange, HandsOutAlignedPiecesUntilItIsEmpty) {
  gpu::Range range(10, 100);
  EXPECT_EQ(range.take(5, 8), 16U);
  EXPECT_EQ(range.take(1, 32), 32U);
  EXPECT_FALSE(range.take(100, 1).has_value());
  EXPECT_EQ(range.take(67, 1), 33U);
  EXPECT_FALSE(range.take(12, 1).has_value());
  EXPECT_EQ(range.left(), 6U + 11U);  // before 16, and between 21 and 32
  EXPECT_EQ(range.longest(), 11U);
  EXPECT_EQ(range.size(), 90U);
}

TEST(GpuRange, TakesPiecesBackAndJoinsThem) {
  gpu::Range range(0, 40);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(range.take(10, 1), 10 * i);
  EXPECT_FALSE(range.take(1, 1).has_value());
  EXPECT_TRUE(range.release(10));
  EXPECT_FALSE(range.release(10));
  EXPECT_FALSE(range.release(5));
  EXPECT_TRUE(range.release(30));
  EXPECT_EQ(range.longest(), 10U);
  EXPECT_TRUE(range.release(20));
  EXPECT_EQ(range.longest(), 30U);
  EXPECT_EQ(range.length_at(0), 10U);
  EXPECT_TRUE(range.release(0));
  EXPECT_EQ(range.take(40, 1), 0U);
  EXPECT_FALSE(range.length_at(10).has_value());
}

TEST(GpuRange, APieceOfNothingHasAPlaceOfItsOwn) {
  gpu::Range range(0, 8);
  const auto first = range.take(0, 1);
  const auto second = range.take(0, 1);
  EXPECT_NE(first, second);
  EXPECT_TRUE(range.release(*first));
  EXPECT_TRUE(range.release(*second));
  EXPECT_EQ(range.longest(), 8U);
}

}  // namespace
