// Verdicts on tests that others wrote, where they lie on this machine.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "litmus/enumerate.hpp"
#include "litmus/shared_tests.hpp"
#include "litmus/suite.hpp"

namespace muster::litmus {
namespace {

TEST(LitmusShared, TheEnumeratorAgreesWithEveryKnownVerdict) {
  const std::vector<std::filesystem::path> files = shared_tests();
  if (files.empty()) GTEST_SKIP() << "there are no such tests here";
  std::size_t expected = 0;
  for (const std::filesystem::path& file : files) {
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
