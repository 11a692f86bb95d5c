// A program that measures on request: what comes of each way in which it can fail.
#include "bench/program.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace muster::bench {
namespace {

using namespace std::chrono_literals;

class Program : public testing::Test {
 protected:
  Program() {
    std::filesystem::create_directories(place_);
    std::filesystem::copy_file(MUSTER_FAKE_GPU, place_ / "muster-bench-gpu");
    unsetenv("FAKE_GPU");
  }
  ~Program() override {
    unsetenv("FAKE_GPU");
    std::filesystem::remove_all(place_);
  }

  [[nodiscard]] std::string path() const { return (place_ / "muster-bench-gpu").string(); }

 private:
  std::filesystem::path place_ =
      std::filesystem::temp_directory_path() / ("muster-program-test-" + std::to_string(getpid()));
};

const Plan plan{.calls = 10, .repeat = 3, .limit = 10s};

TEST_F(Program, ListsItsContendersAndMeasuresThem) {
  MeasuringProgram program(path());
  EXPECT_EQ(program.devices().value(), "2 x Imagined GPU");
  const auto all = program.list("barrier", {.variant = "relaxed"}).value();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].role, Role::floor);
  EXPECT_EQ(all[1].name, "EpochBarrier");
  EXPECT_EQ(all[1].role, Role::muster);
  EXPECT_EQ(all[2].role, Role::peer);
  EXPECT_EQ(all[2].group, "cas");
  EXPECT_EQ(all[1].run(plan).value(), Blocks(3, 150.0));
  EXPECT_EQ(all[0].run(plan).value(), Blocks(3, 100.0));
}

TEST_F(Program, SaysWhyNothingCanBeMeasured) {
  setenv("FAKE_GPU", "no_gpu", 1);
  MeasuringProgram program(path());
  const Result<std::string> devices = program.devices();
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::unavailable);
  EXPECT_EQ(devices.error().what, "it needs 2 GPUs, and this machine has none");
}

TEST_F(Program, ThatHangsIsEndedAndNamed) {
  setenv("FAKE_GPU", "sleeps", 1);
  MeasuringProgram program(path());
  const auto all = program.list("barrier", {}).value();
  const auto begin = std::chrono::steady_clock::now();
  const Result<Blocks> blocks = all[0].run({.calls = 1, .repeat = 1, .limit = 200ms});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  ASSERT_FALSE(blocks);
  EXPECT_EQ(blocks.error().code, ErrorCode::expired);
  // Its contenders went with it; the next table gets a new one.
  EXPECT_FALSE(all[1].run(plan));
  unsetenv("FAKE_GPU");
  EXPECT_EQ(program.list("barrier", {}).value()[0].run(plan).value(), Blocks(3, 100.0));
}

TEST_F(Program, ThatDiesLeavesItsLastWords) {
  setenv("FAKE_GPU", "dies", 1);
  MeasuringProgram program(path());
  const auto listed = program.list("barrier", {});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::system);
  EXPECT_EQ(listed.error().what, "muster-bench-gpu ended: no luck today");
}

TEST_F(Program, ThatIsNoneIsAnError) {
  MeasuringProgram program("/nonexistent/program");
  const auto devices = program.devices();
  ASSERT_FALSE(devices);
  EXPECT_NE(devices.error().what.find("No such file"), std::string::npos) << devices.error().what;
}

// The other end is bench/gpu/serve.hpp's, which the programs for GPUs use.
TEST(Serving, BothEndsUnderstandEachOther) {
  MeasuringProgram program(MUSTER_SERVING);
  EXPECT_EQ(program.devices().value(), "a machine");
  const auto all = program.list("put", {.bytes = 4096, .variant = "one way, both"}).value();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "of one way, both");
  EXPECT_EQ(all[0].role, Role::floor);
  EXPECT_EQ(all[0].run({.warm_up = 1, .calls = 77, .repeat = 2}).value(), Blocks(2, 77.0));
  const Result<Blocks> broken = all[1].run({.calls = 1, .repeat = 1});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().what, "it is broken");
  EXPECT_EQ(all[2].group, "other");
  EXPECT_EQ(all[2].run({.calls = 1, .repeat = 1}).value(), Blocks(1, 4096.0));
  EXPECT_EQ(all[3].why_not, "it is on holiday");
}

TEST(Serving, WhatCannotBeListedIsSaidInOneLine) {
  MeasuringProgram program(MUSTER_SERVING);
  const auto listed = program.list("nothing", {});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(listed.error().what, "there is nothing to see here");
}

}  // namespace
}  // namespace muster::bench
