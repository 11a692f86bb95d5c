// World on the host side, with CUDA's functions replaced: set-up, launches, what its processes do
// together.
#include <gtest/gtest.h>

#include "conformance/setup_bodies.hpp"
#include "gpu/fake_world.hpp"
#include "muster/barrier.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

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

TEST(GpuLaunch, OverlapsWhereItIsAskedForAndCanBe) {
  gpu::World world = make_world();
  const auto go = [&](const gpu::Shape& shape) {
    EXPECT_TRUE(world.launch(kernel_of<int>, shape, 7).has_value());
  };
  auto& machine = fake_machine();
  go({.lanes = 2, .threads = 32});
  EXPECT_TRUE(machine.cooperative && !machine.overlaps);
  go({.lanes = 2, .threads = 32, .overlaps = true});
  EXPECT_TRUE(!machine.cooperative && machine.overlaps);
  go({.lanes = 2, .threads = 32, .cooperative = true, .overlaps = true});
  EXPECT_TRUE(machine.cooperative && machine.overlaps);
  machine.capability = 8;
  go({.lanes = 2, .threads = 32, .overlaps = true});
  EXPECT_FALSE(machine.overlaps);
  machine.capability = 9;
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

// ---- processes

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

}  // namespace
