// share_of: whatever the numbers, the shares cover every element once and begin where they may.
#include "muster/collective/share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "muster/half.hpp"

namespace muster {
namespace {

struct ThreeWords {
  std::uint32_t word[3];
};

static_assert(share_grain<std::int8_t> == 16 && share_grain<bfloat16> == 8);
static_assert(share_grain<float> == 4 && share_grain<double> == 2);
static_assert(share_grain<ThreeWords> == 4, "48 bytes");
static_assert(share_grain<PacketLine> == 1);
static_assert(share_of<float>(10, 0, 2) == Share{0, 4} && share_of<float>(10, 1, 2) == Share{4, 6});
static_assert(share_of<float>(3, 0, 4).count == 0 && share_of<float>(3, 3, 4) == Share{0, 3});

void expect_shares(std::int64_t count, std::uint32_t parts, std::int64_t grain) {
  std::int64_t next = 0;
  std::int64_t least = count;
  std::int64_t most = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const Share share = share_of<float>(count, part, parts, grain);
    ASSERT_EQ(share.first, next) << count << " elements, part " << part << " of " << parts;
    ASSERT_GE(share.count, 0);
    ASSERT_EQ(share.first % grain, 0) << "part " << part << " of " << parts << ", grain " << grain;
    next = share.end();
    const std::int64_t whole = share.count / grain;
    least = std::min(least, whole);
    most = std::max(most, whole);
  }
  EXPECT_EQ(next, count);
  if (parts > 0 && count > 0) {
    EXPECT_LE(most - least, 1) << count << " in " << parts << ", grain " << grain;
  }
}

TEST(Share, CoversEveryElementOnce) {
  for (std::int64_t count = 0; count <= 70; ++count)
    for (std::uint32_t parts = 1; parts <= 20; ++parts)
      for (const std::int64_t grain : {1, 2, 3, 4, 16, 100}) expect_shares(count, parts, grain);
}

TEST(Share, OfLargeCounts) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto count = static_cast<std::int64_t>(random() >> (1 + random() % 60));
    const auto parts = static_cast<std::uint32_t>(1 + random() % 300);
    expect_shares(count, parts, static_cast<std::int64_t>(1 + random() % 9000));
  }
  expect_shares(INT64_MAX, 7, 1);
  expect_shares(INT64_MAX, 8, 4);
}

}  // namespace
}  // namespace muster
