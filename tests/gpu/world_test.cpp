// World on the host side, with CUDA's functions replaced: what is freed, and in which order;
// signals as operations of streams.
#include "muster/fabric/gpu/world.hpp"

#include <cuda.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "conformance/setup_bodies.hpp"
#include "gpu/fake_cuda.hpp"
#include "muster/barrier.hpp"
#include "muster/fabric/gpu/stream.hpp"
#include "muster/handoff.hpp"

namespace {

using namespace muster;
using gpu_test::fake_machine;
using gpu_test::StreamOperation;

gpu::World make_world(std::vector<int> devices = {0, 1}, std::uint64_t bytes = 1U << 16U,
                      std::uint32_t cells = 1024) {
  fake_machine() = {};
  return gpu::World::create(
             {.devices = std::move(devices), .lanes = 2, .bytes = bytes, .cells = cells})
      .value();
}

void expect_refused(const Result<void>& result, const std::string& words,
                    ErrorCode code = ErrorCode::invalid_argument) {
  ASSERT_FALSE(result.has_value()) << "no error that says: " << words;
  EXPECT_EQ(result.error().code, code);
  EXPECT_NE(result.error().what.find(words), std::string::npos) << result.error().what;
}

// ---- set-up

TEST(GpuSetUp, ExtentsAreCheckedAndFold) {
  gpu::World world = make_world();
  const Result<void> held = conformance::extents(world);
  EXPECT_TRUE(held.has_value()) << to_string(held.error());
}

TEST(GpuSetUp, MusterVerifyIsOneOrZero) {
  setenv("MUSTER_VERIFY", "yes", 1);
  fake_machine() = {};
  const Result<gpu::World> world = gpu::World::create({.devices = {0}});
  EXPECT_EQ(world.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(world.error().what.find("MUSTER_VERIFY is \"yes\""), std::string::npos);
  for (const bool wish : {false, true}) {
    setenv("MUSTER_VERIFY", wish ? "1" : "0", 1);
    EXPECT_EQ(make_world().handle(0).verify, wish ? 1U : 0U);
  }
  unsetenv("MUSTER_VERIFY");
}

// ---- launches

constexpr gpu::Shape one_lane{.lanes = 1, .threads = 32};

template <class T>
void kernel_of(gpu::Handle /*handle*/, T /*value*/) {}

template <class T>
Result<void> launch(gpu::World& world, const T& value) {
  fake_machine().launches = 0;
  Result<void> done = world.launch(kernel_of<T>, one_lane, value);
  EXPECT_EQ(fake_machine().launches, done ? static_cast<int>(world.groups()) : 0);
  return done;
}

TEST(GpuLaunch, TakesWhatTheWorldHasMade) {
  gpu::World world = make_world();
  const auto window = world.window<float>({3, 5}).value();
  auto inner = window;
  inner.offset += 5 * sizeof(float);
  inner.rows = 2;
  EXPECT_TRUE(launch(world, window).has_value());
  EXPECT_TRUE(launch(world, inner).has_value());
  EXPECT_TRUE(launch(world, WindowRef<float>{}).has_value());  // none
  EXPECT_TRUE(launch(world, world.rows().value()).has_value());
  EXPECT_TRUE(launch(world, world.signals(4).value()).has_value());
  EXPECT_TRUE(launch(world, EpochBarrier(world)).has_value());
  EXPECT_TRUE(launch(world, SystemBarrier(world)).has_value());
  EXPECT_TRUE(launch(world, EpochBarrier()).has_value());
  EXPECT_TRUE(launch(world, 7).has_value());
}

TEST(GpuLaunch, RefusesWindowsOfAnotherWorldAndFreedOnes) {
  gpu::World world = make_world();
  gpu::World other = make_world();
  const auto window = world.window<float>({3, 5}).value();
  const auto more = world.window<float>({200}).value();
  expect_refused(launch(other, window), "parameter 2 of the kernel is a window of team");
  auto longer = window;
  longer.rows = 300;
  expect_refused(launch(world, longer), "300 x 5 elements of 4 bytes");
  longer.rows = longer.cols = std::int64_t{1} << 32U;
  expect_refused(launch(world, longer), "this world has none there");
  auto elsewhere = window;
  elsewhere.segment = 1;
  expect_refused(launch(world, elsewhere), "of segment 1");
  elsewhere = window;
  elsewhere.offset = 0;  // cells
  expect_refused(launch(world, elsewhere), "at offset 0 of segment 0");
  elsewhere.offset = ~std::uint64_t{7};
  expect_refused(launch(world, elsewhere), "this world has none there");
  ASSERT_TRUE(world.free(window).has_value());
  expect_refused(launch(world, window), "freed, or not made by it");
  EXPECT_TRUE(launch(world, more).has_value());
  const auto kernel = [](gpu::Handle, int, WindowRef<float>) {};
  expect_refused(world.launch(+kernel, one_lane, 1, window), "parameter 3 of the kernel");
}

TEST(GpuLaunch, RefusesCellsThatAreNotThere) {
  gpu::World world = make_world();
  const EpochBarrier barrier(world);
  const Signals signals = world.signals(4).value();
  expect_refused(launch(world, Signals{Signal{0, 5000}, 1}), "1 cells from 5000 of segment 0");
  expect_refused(launch(world, Signals{Signal{3, 0}, 1}), "of segment 3");
  expect_refused(launch(world, Signals{signals.first, 400}), "400 cells");
  ASSERT_TRUE(world.free(barrier.rows()).has_value());
  ASSERT_TRUE(world.free(signals).has_value());
  expect_refused(launch(world, barrier), "freed, or not made by it");
  expect_refused(launch(world, signals), "freed, or not made by it");
}

// A kernel that takes part in two teams has windows of both.
TEST(GpuLaunch, LooksAtNothingWhereThereAreTwoWorlds) {
  gpu::World world = make_world();
  gpu::World other = make_world();
  const auto kernel = [](gpu::Handle, gpu::Handle, WindowRef<float>) {};
  EXPECT_TRUE(world.launch(+kernel, one_lane, other.handle(0), other.window<float>({3}).value())
                  .has_value());
}

// Barriers look at what they have noted of failures where there can be such a note.
TEST(GpuLaunch, TellsKernelsOfAFailureBefore) {
  gpu::World world = make_world();
  EXPECT_EQ(world.handle(0).notes, 0);
  world.abort("the test wants it");
  EXPECT_EQ(world.handle(0).notes, 1);
  ASSERT_TRUE(world.reset().has_value());
  EXPECT_EQ(world.handle(0).notes, 0);
  gpu::World retrying =
      gpu::World::create({.devices = {0, 1}, .bytes = 1U << 16U, .on_expiry = retry}).value();
  EXPECT_EQ(retrying.handle(0).notes, 1);
}

// ---- free

TEST(GpuFree, AWindowCanBeMadeAgainAndIsZero) {
  gpu::World world = make_world();
  for (int round = 0; round < 5; ++round) {
    auto window = world.window<std::uint32_t>({1U << 14U}).value();  // all there is
    EXPECT_FALSE(world.window<std::uint32_t>({1}).has_value());
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      std::uint32_t* const memory = world.address(window, Rank{rank});
      EXPECT_EQ(std::count(memory, memory + window.size(), 0U), window.size());
      std::fill(memory, memory + window.size(), 7U);
    }
    EXPECT_TRUE(world.free(window).has_value());
  }
}

TEST(GpuFree, NeighboursKeepWhatTheyHold) {
  gpu::World world = make_world();
  const auto left = world.window<std::uint32_t>({3}).value();
  const auto middle = world.window<std::uint32_t>({100}).value();
  const auto right = world.window<std::uint32_t>({3}).value();
  for (const auto& window : {left, right}) std::fill_n(world.address(window, Rank{1}), 3, 5U);
  ASSERT_TRUE(world.free(middle).has_value());
  for (const auto& window : {left, right})
    EXPECT_EQ(std::count(world.address(window, Rank{1}), world.address(window, Rank{1}) + 3, 5U),
              3);
  // A smaller one goes into the gap, a larger one does not.
  EXPECT_EQ(world.window<std::uint32_t>({50}).value().offset, middle.offset);
  EXPECT_GT(world.window<std::uint32_t>({200}).value().offset, right.offset);
}

TEST(GpuFree, AnyOrderGivesEverythingBack) {
  std::mt19937 random(7);
  gpu::World world = make_world({0, 1}, 1U << 16U, 4096);
  for (int round = 0; round < 20; ++round) {
    std::vector<WindowRef<std::uint32_t>> windows;
    std::vector<Rows> rows;
    std::vector<Signals> signals;
    const auto below = [&](std::uint32_t end) {
      return static_cast<std::uint32_t>(random()) % end;
    };
    for (int i = 0; i < 20; ++i) {
      windows.push_back(world.window<std::uint32_t>({1 + below(300)}).value());
      rows.push_back(world.rows(1 + below(2)).value());
      signals.push_back(world.signals(below(40)).value());
    }
    std::shuffle(windows.begin(), windows.end(), random);
    std::shuffle(rows.begin(), rows.end(), random);
    std::shuffle(signals.begin(), signals.end(), random);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_TRUE(world.free(windows[i]).has_value());
      EXPECT_TRUE(world.free(rows[i]).has_value());
      EXPECT_TRUE(world.free(signals[i]).has_value());
    }
    const auto all = world.window<std::uint32_t>({1U << 14U});
    ASSERT_TRUE(all.has_value()) << to_string(all.error());
    const auto cells = world.signals(4096);
    ASSERT_TRUE(cells.has_value()) << to_string(cells.error());
    EXPECT_TRUE(world.free(*all).has_value());
    EXPECT_TRUE(world.free(*cells).has_value());
  }
}

TEST(GpuFree, CellsAreZeroAgain) {
  gpu::World world = make_world();
  const Signals signals = world.signals(2).value();
  ASSERT_TRUE(world.notify_on(Rank{0}, nullptr, signals[1], Rank{1}, 9).has_value());
  const auto* const word = static_cast<const std::uint32_t*>(fake_machine().operations[0].address);
  EXPECT_EQ(*word, 9U);
  ASSERT_TRUE(world.free(signals).has_value());
  EXPECT_EQ(*word, 0U);
}

TEST(GpuFree, TwiceIsAnError) {
  gpu::World world = make_world();
  const auto window = world.window<int>({4}).value();
  const Rows rows = world.rows().value();
  const Signals signals = world.signals(4).value();
  EXPECT_TRUE(world.free(window).has_value());
  EXPECT_TRUE(world.free(rows).has_value());
  EXPECT_TRUE(world.free(signals).has_value());
  expect_refused(world.free(window), "freed twice");
  expect_refused(world.free(rows), "freed twice");
  expect_refused(world.free(signals), "freed twice");
}

TEST(GpuFree, WhatIsNotThisWorldsIsAnError) {
  gpu::World world = make_world();
  gpu::World other = make_world();
  const auto window = other.window<int>({4}).value();
  ASSERT_EQ(world.window<int>({4}).value().offset, window.offset);
  expect_refused(world.free(window), "another world's");
  auto part = world.window<int>({100}).value();
  part.offset += 4;
  expect_refused(world.free(part), "none there");
  Rows rows = world.rows(2).value();
  rows.lanes = 1;
  expect_refused(world.free(rows), "none there");
  Signals signals = world.signals(4).value();
  signals.count = 2;
  expect_refused(world.free(signals), "none there");
  expect_refused(world.free(Signals{signals[1], 3}), "none there");
}

TEST(GpuFree, AdoptedMemoryIsItsOwners) {
  fake_machine() = {};
  std::vector<std::uint32_t> memory(4096);
  void* const base = memory.data();
  gpu::World world =
      gpu::World::attach({.rank = Rank{0}, .memory = {{{base}, 8192}, {{base}, 8192}}}).value();
  expect_refused(world.free(world.window_in<int>(0, 0, {4}).value()), "its owner gives back");
  expect_refused(world.free(world.pad_rows(0, 2).value()), "its owner gives back");
  ASSERT_TRUE(world.use_for_cells(1).has_value());
  const Rows rows = world.rows(2).value();
  memory[rows.first.cell] = 3;
  EXPECT_TRUE(world.free(rows).has_value());
  EXPECT_EQ(memory[rows.first.cell], 0U);
}

TEST(GpuFree, OutOfMemorySaysWhatIsLeft) {
  gpu::World world = make_world({0, 1}, 4096);
  const auto first = world.window<std::uint8_t>({1024}).value();
  const auto second = world.window<std::uint8_t>({2048}).value();
  ASSERT_TRUE(world.free(first).has_value());
  const auto none = world.window<std::uint8_t>({1500});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().what.find("2048 are left, 1024 of them in one piece"), std::string::npos)
      << none.error().what;
  ASSERT_TRUE(world.free(second).has_value());
  EXPECT_TRUE(world.window<std::uint8_t>({4096}).has_value());
}

// Two processes, each with a rank.
template <class Body>
void in_two_processes(Body body) {
  std::vector<gpu::Bootstrap> bootstraps = gpu::make_bootstraps(2).value();
  pid_t children[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] != 0) continue;
    gpu::close_bootstrap(bootstraps[1 - i]);
    fake_machine() = {};
    gpu::World world =
        gpu::World::join(
            {.devices = {static_cast<int>(i)}, .lanes = 2, .bytes = 1U << 16U, .cells = 1024},
            bootstraps[i])
            .value();
    body(world, i);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  for (gpu::Bootstrap& bootstrap : bootstraps) gpu::close_bootstrap(bootstrap);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(GpuFree, ProcessesFreeTogether) {
  in_two_processes([](gpu::World& world, std::uint32_t me) {
    for (int round = 0; round < 10; ++round) {
      const auto window = world.window<std::uint32_t>({1U << 14U}).value();
      // The peer's memory, through this process's mapping; it clears its own.
      std::uint32_t* const theirs = world.address(window, Rank{1 - me});
      std::fill(theirs, theirs + window.size(), 7U);
      ASSERT_TRUE(world.free(window).has_value());
      EXPECT_EQ(std::count(theirs, theirs + window.size(), 0U), window.size());
      // Nobody fills again before both have looked.
      const Rows rows = world.rows().value();
      ASSERT_TRUE(world.free(rows).has_value());
    }
  });
}

TEST(GpuWorld, AWindowIsCalledByItsName) {
  gpu::World world = make_world();
  const auto said = [](const Result<WindowRef<float>>& window) {
    return window ? std::string("there is one") : window.error().what;
  };
  EXPECT_NE(said(world.window<float>({1LL << 40}, "inbox")).find("a window 'inbox' of "),
            std::string::npos);
  EXPECT_NE(said(world.window<float>({-1}, "inbox")).find("window 'inbox': extents[0] is -1"),
            std::string::npos);
  EXPECT_EQ(said(world.window<float>({3}, "inbox")), "there is one");
}

TEST(GpuWorld, SyncIsABarrierOfTheProcesses) {
  in_two_processes([](gpu::World& world, std::uint32_t me) {
    const auto window = world.window<std::uint32_t>({1}).value();
    for (std::uint32_t round = 1; round < 10; ++round) {
      *world.address(window, Rank{1 - me}) = round;
      ASSERT_TRUE(world.sync().has_value());
      EXPECT_EQ(*world.address(window, Rank{me}), round);
      ASSERT_TRUE(world.sync().has_value());
    }
  });
  fake_machine() = {};
  std::vector<std::uint32_t> memory(4096);
  void* const base = memory.data();
  gpu::World attached =
      gpu::World::attach({.rank = Rank{0}, .memory = {{{base, base}, 8192}}}).value();
  EXPECT_TRUE(attached.synchronize().has_value());
  expect_refused(attached.sync(), "cannot exchange anything", ErrorCode::unavailable);
}

TEST(GpuFree, ProcessesThatDifferAreToldSo) {
  in_two_processes([](gpu::World& world, std::uint32_t me) {
    const auto first = world.window<int>({4}).value();
    const auto second = world.window<int>({4}).value();
    expect_refused(world.free(me == 0 ? first : second), "process 1", ErrorCode::mismatch);
    // One that a process does not have is an error for both; nothing is lost by it.
    auto wrong = first;
    if (me == 1) wrong.team += 1;
    if (me == 1)
      expect_refused(world.free(wrong), "another world's");
    else
      expect_refused(world.free(wrong), "process 1 has none there", ErrorCode::mismatch);
    EXPECT_TRUE(world.free(first).has_value());
    EXPECT_TRUE(world.free(second).has_value());
  });
}

// ---- streams

TEST(GpuStream, OperationsReachTheRightWord) {
  gpu::World world = make_world();
  const Signals signals = world.signals(3).value();
  const auto window = world.window<std::uint32_t>({1}).value();
  ASSERT_TRUE(world.notify_on(Rank{0}, world.stream(0), signals[2], Rank{1}, 5).has_value());
  ASSERT_TRUE(world.wait_on(Rank{1}, world.stream(1), signals[2], Compare::eq, 5).has_value());
  const auto& done = fake_machine().operations;
  ASSERT_EQ(done.size(), 2U);
  EXPECT_TRUE(done[0].is_write);
  EXPECT_EQ(done[0].device, 0);
  EXPECT_EQ(done[0].stream, world.stream(0));
  EXPECT_EQ(done[0].flags, unsigned{CU_STREAM_WRITE_VALUE_DEFAULT});
  EXPECT_FALSE(done[1].is_write);
  EXPECT_EQ(done[1].device, 1);
  EXPECT_EQ(done[1].stream, world.stream(1));
  EXPECT_EQ(done[1].address, done[0].address);  // rank 1's
  EXPECT_EQ(done[1].flags, unsigned{CU_STREAM_WAIT_VALUE_EQ});
  // Cells lie before the windows of the same rank.
  const auto* const base = reinterpret_cast<const std::byte*>(world.address(window, Rank{1}));
  EXPECT_EQ(static_cast<const std::byte*>(done[0].address),
            base - window.offset + signals[2].cell * gpu::cell_bytes);
}

TEST(GpuStream, ConditionsAreTheHardwares) {
  gpu::World world = make_world();
  const Signals signals = world.signals(1).value();
  const auto wait = [&](Compare compare, std::uint32_t value) {
    EXPECT_TRUE(world.wait_on(Rank{0}, nullptr, signals[0], compare, value).has_value());
    return fake_machine().operations.back();
  };
  EXPECT_EQ(wait(Compare::ge, 4).flags, unsigned{CU_STREAM_WAIT_VALUE_GEQ});
  EXPECT_EQ(wait(Compare::gt, 4).flags, unsigned{CU_STREAM_WAIT_VALUE_GEQ});
  EXPECT_EQ(wait(Compare::gt, 4).value, 5U);
  EXPECT_EQ(wait(Compare::gt, ~0U).value, 0U);  // wraps, as the comparison does
}

TEST(GpuStream, WaitsFlushWhereTheDeviceCan) {
  gpu::World world = make_world();
  fake_machine().can_flush = true;
  const Signals signals = world.signals(1).value();
  ASSERT_TRUE(world.wait_on(Rank{0}, nullptr, signals[0], Compare::eq, 0).has_value());
  EXPECT_EQ(fake_machine().operations.back().flags,
            unsigned{CU_STREAM_WAIT_VALUE_EQ} | unsigned{CU_STREAM_WAIT_VALUE_FLUSH});
}

TEST(GpuStream, TheNullStreamIsThatOfTheRanksGpu) {
  gpu::World world = make_world();
  const Signals signals = world.signals(1).value();
  ASSERT_TRUE(world.notify_on(Rank{1}, nullptr, signals[0], Rank{0}, 1).has_value());
  EXPECT_EQ(fake_machine().operations.back().device, 1);
  EXPECT_EQ(fake_machine().operations.back().stream, nullptr);
  EXPECT_EQ(fake_machine().current, 0);  // as before
}

TEST(GpuStream, WrongArgumentsSayWhich) {
  gpu::World world = make_world();
  gpu::World other = make_world({0, 1});
  const Signals signals = world.signals(1).value();
  const Rows rows = world.rows(2).value();
  const gpu::Stream stream = world.stream(0);
  expect_refused(world.notify_on(Rank{2}, stream, signals[0], Rank{1}, 1), "rank 2 is not one of");
  expect_refused(world.notify_on(Rank{0}, stream, signals[0], Rank{2}, 1),
                 "peer is rank 2; the world has 2");
  expect_refused(world.notify_on(Rank{0}, stream, signals[1], Rank{1}, 1), "belongs to no rows");
  expect_refused(world.wait_on(Rank{0}, stream, Signal{3, 0}, Compare::eq, 1),
                 "cell 0 of segment 3");
  // The counters of rows are no signals.
  expect_refused(world.wait_on(Rank{0}, stream, Signal{0, rows.first_epoch.cell}, Compare::eq, 1),
                 "belongs to no rows");
  EXPECT_TRUE(
      world.wait_on(Rank{0}, stream, rows.from(Lane{1}, Rank{1}), Compare::eq, 1).has_value());
  for (const Compare compare : {Compare::ne, Compare::le, Compare::lt})
    expect_refused(world.wait_on(Rank{0}, stream, signals[0], compare, 1), "eq, ge and gt only");
  expect_refused(world.notify_on(Rank{1}, stream, signals[0], Rank{0}, 1),
                 "the stream is one of GPU 0, but the rank is on GPU 1");
  ASSERT_TRUE(world.free(signals).has_value());
  expect_refused(world.notify_on(Rank{0}, stream, signals[0], Rank{1}, 1), "freed");
}

// A capturing stream that is asked anything ends the capture.
TEST(GpuStream, MayBeCaptured) {
  gpu::World world = make_world();
  const Signals signals = world.signals(1).value();
  fake_machine().capturing = true;
  EXPECT_TRUE(world.notify_on(Rank{0}, world.stream(0), signals[0], Rank{1}, 1).has_value());
  EXPECT_TRUE(world.wait_on(Rank{1}, world.stream(1), signals[0], Compare::eq, 1).has_value());
  EXPECT_FALSE(fake_machine().capture_ended);
}

TEST(GpuStream, AMachineWithoutThemSaysSo) {
  gpu::World world = make_world();
  const Signals signals = world.signals(1).value();
  fake_machine().stream_status = CUDA_ERROR_NOT_SUPPORTED;
  expect_refused(world.notify_on(Rank{1}, nullptr, signals[0], Rank{0}, 1),
                 "GPU 1 has no memory operations of streams", ErrorCode::unavailable);
  fake_machine().stream_status = CUDA_ERROR_INVALID_VALUE;
  expect_refused(world.wait_on(Rank{0}, nullptr, signals[0], Compare::eq, 1),
                 "putting a wait into a stream of GPU 0", ErrorCode::system);
  gpu::World other = make_world();
  fake_machine().has_stream_entries = false;
  const Signals cells = other.signals(1).value();
  expect_refused(other.wait_on(Rank{0}, nullptr, cells[0], Compare::eq, 1),
                 "the CUDA driver has no cuStreamWaitValue32", ErrorCode::unavailable);
}

TEST(GpuStream, AHandoffIsTheSameEveryRound) {
  gpu::World world = make_world();
  const Handoff handoff(world);
  std::vector<std::vector<StreamOperation>> rounds;
  for (int round = 0; round < 2; ++round) {
    fake_machine().operations.clear();
    gpu::StreamLane sender(world, Rank{0}, world.stream(0));
    gpu::StreamLane receiver(world, Rank{1}, world.stream(1));
    EXPECT_EQ(handoff.vacant(sender), WaitStatus::ok);
    handoff.post(sender, Rank{1});
    EXPECT_EQ(handoff.wait(receiver), WaitStatus::ok);
    handoff.acknowledge(receiver, Rank{0});
    EXPECT_TRUE(sender.result().has_value());
    EXPECT_TRUE(receiver.result().has_value());
    rounds.push_back(fake_machine().operations);
  }
  ASSERT_EQ(rounds[0].size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(rounds[0][i].address, rounds[1][i].address);
    EXPECT_EQ(rounds[0][i].value, rounds[1][i].value);
  }
  // All words are zero between rounds.
  for (const StreamOperation& operation : rounds[1])
    EXPECT_EQ(*static_cast<const std::uint32_t*>(operation.address), 0U);
}

TEST(GpuStream, ALaneKeepsItsFirstErrorAndStops) {
  gpu::World world = make_world();
  const Signals signals = world.signals(1).value();
  gpu::StreamLane lane(world, Rank{0}, world.stream(0));
  lane.notify(signals[0], Rank{1}, 1, NotifyOp::add);
  EXPECT_EQ(lane.wait(signals[0], Compare::eq, 0), WaitStatus::invalid);
  lane.notify(signals[0], Rank{1}, 1);
  expect_refused(lane.result(), "op is add");
  EXPECT_TRUE(fake_machine().operations.empty());
}

}  // namespace
