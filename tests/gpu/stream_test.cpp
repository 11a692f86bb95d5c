// Signals as operations of streams, with CUDA's functions replaced.
#include "muster/fabric/gpu/stream.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include "gpu/fake_world.hpp"
#include "muster/handoff.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

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
