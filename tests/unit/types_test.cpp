// The plain values: comparisons that survive the wrap, severities, addresses, clipped boxes.
#include "muster/types.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

namespace muster {
namespace {

TEST(Types, ComparisonsWithoutWrapAreThoseOfNumbers) {
  for (std::uint32_t seen = 0; seen < 6; ++seen) {
    for (std::uint32_t expected = 0; expected < 6; ++expected) {
      EXPECT_EQ(satisfies(seen, Compare::eq, expected), seen == expected);
      EXPECT_EQ(satisfies(seen, Compare::ne, expected), seen != expected);
      EXPECT_EQ(satisfies(seen, Compare::ge, expected), seen >= expected);
      EXPECT_EQ(satisfies(seen, Compare::gt, expected), seen > expected);
      EXPECT_EQ(satisfies(seen, Compare::le, expected), seen <= expected);
      EXPECT_EQ(satisfies(seen, Compare::lt, expected), seen < expected);
    }
  }
}

TEST(Types, ComparisonsSurviveTheWrap) {
  EXPECT_TRUE(satisfies(0, Compare::gt, 0xffffffffU));
  EXPECT_TRUE(satisfies(0x10, Compare::ge, 0xfffffff0U));
  EXPECT_FALSE(satisfies(0xfffffff0U, Compare::ge, 0x10));
  EXPECT_TRUE(satisfies(0xfffffff0U, Compare::lt, 0x10));
  EXPECT_TRUE(satisfies(0xffffffffU, Compare::le, 0));
  // The farthest that still compares right, and the first that does not.
  EXPECT_TRUE(satisfies(0x7fffffffU, Compare::ge, 0));
  EXPECT_FALSE(satisfies(0x80000000U, Compare::ge, 0));
  EXPECT_TRUE(satisfies(0x80000000U + 5, Compare::ge, 6));
}

TEST(Types, EpochsWrap) {
  EXPECT_EQ(Epoch{0xffffffffU}.next(), Epoch{0});
  EXPECT_EQ(Epoch{41}.next(), Epoch{42});
}

TEST(Types, WorstIsTheMoreSevere) {
  const WaitStatus all[] = {WaitStatus::ok,      WaitStatus::pending, WaitStatus::refused,
                            WaitStatus::expired, WaitStatus::aborted, WaitStatus::peer_lost,
                            WaitStatus::invalid};
  for (std::size_t a = 0; a < std::size(all); ++a)
    for (std::size_t b = 0; b < std::size(all); ++b)
      EXPECT_EQ(worst(all[a], all[b]), all[std::max(a, b)]);
}

TEST(Types, OrdersSplitIntoTheirParts) {
  EXPECT_EQ(release_part(Order::acq_rel), Order::release);
  EXPECT_EQ(acquire_part(Order::acq_rel), Order::acquire);
  EXPECT_EQ(release_part(Order::acquire), Order::relaxed);
  EXPECT_EQ(acquire_part(Order::release), Order::relaxed);
  EXPECT_EQ(release_part(Order::relaxed), Order::relaxed);
}

TEST(Types, RowsAreFirstPlusLaneTimesRanksPlusWriter) {
  const Rows rows{Signal{3, 100}, Counter{3, 7}, 4, 5};
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    for (std::uint32_t writer = 0; writer < 5; ++writer)
      EXPECT_EQ(rows.from(Lane{lane}, Rank{writer}), (Signal{3, 100 + lane * 5 + writer}));
    EXPECT_EQ(rows.epoch(Lane{lane}), (Counter{3, 7 + lane}));
    EXPECT_EQ(rows.refusal(Lane{lane}), (Counter{3, 7 + 4 + lane}));
  }
  EXPECT_EQ((Signals{Signal{1, 9}, 3}[2]), (Signal{1, 11}));
}

TEST(Types, ClipCoversAWindowExactlyOnce) {
  for (std::int64_t rows = 1; rows <= 9; ++rows) {
    for (std::int64_t cols = 1; cols <= 9; ++cols) {
      const WindowRef<float> window{.rows = rows, .cols = cols};
      std::vector<int> covered(static_cast<std::size_t>(rows * cols), 0);
      for (std::int64_t row = 0; row < rows; row += 4) {
        for (std::int64_t col = 0; col < cols; col += 3) {
          const Box box = clip(window, row, col, 4, 3);
          ASSERT_LE(box.rows, 4);
          ASSERT_LE(box.cols, 3);
          for (std::int64_t r = 0; r < box.rows; ++r)
            for (std::int64_t c = 0; c < box.cols; ++c)
              ++covered.at(static_cast<std::size_t>(window.at(box.row + r, box.col + c)));
        }
      }
      EXPECT_EQ(covered, std::vector<int>(covered.size(), 1)) << rows << " x " << cols;
    }
  }
}

TEST(Types, ClipBeyondTheWindowIsEmpty) {
  const WindowRef<float> window{.rows = 3, .cols = 3};
  EXPECT_EQ(clip(window, 5, 0, 2, 2).rows, 0);
  EXPECT_EQ(clip(window, 0, 3, 2, 2).cols, 0);
}

TEST(Types, AreBytesThatAKernelCanTake) {
  static_assert(std::is_trivially_copyable_v<Rows>);
  static_assert(std::is_trivially_copyable_v<Signals>);
  static_assert(std::is_trivially_copyable_v<WindowRef<double>>);
  static_assert(std::is_trivially_copyable_v<Condition>);
  static_assert(std::is_trivially_copyable_v<AnyStatus>);
  static_assert(std::is_trivially_copyable_v<Box>);
}

}  // namespace
}  // namespace muster
