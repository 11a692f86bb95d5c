// Verdicts on tests that others wrote, where they lie on this machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "litmus/enumerate.hpp"
#include "litmus/suite.hpp"

namespace muster::litmus {
namespace {

TEST(LitmusShared, TheEnumeratorAgreesWithEveryKnownVerdict) {
  const char* named = std::getenv("MUSTER_LITMUS_TESTS");
  const std::filesystem::path directory = named != nullptr ? named : MUSTER_LITMUS_TESTS;
  if (!std::filesystem::is_directory(directory)) {
    std::cout << "SKIPPED: there is no directory " << directory << " (MUSTER_LITMUS_TESTS)\n";
    GTEST_SKIP() << "no litmus tests in " << directory;
  }
  const auto files = collect({directory.string()});
  ASSERT_TRUE(files) << files.error().what;
  std::size_t expected = 0;
  for (const std::filesystem::path& file : *files) {
    const Result<Program> program = load(file);
    ASSERT_TRUE(program) << program.error().what;
    const auto known = expectation(file);
    ASSERT_TRUE(known) << known.error().what;
    if (!known->has_value()) continue;
    ++expected;
    const Verdict verdict = enumerate(*program);
    EXPECT_FALSE(verdict.bounded()) << file;
    EXPECT_EQ(verdict.holds, **known) << file;
  }
  EXPECT_GT(expected, 0U) << "no file has an expected verdict beside it";
}

}  // namespace
}  // namespace muster::litmus
