// What a World frees, and in which order, with CUDA's functions replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gpu/fake_world.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

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

}  // namespace
