// How sizes are typed, and what the UCX peer's output is read as.
#include "cli/sizes.hpp"

#include <gtest/gtest.h>

#include "bench/ucx.hpp"

namespace muster::cli {
namespace {

using bench::Blocks;
using bench::parse_perftest;

Sizes sizes(const std::vector<std::string>& words) {
  const Result<Sizes> parsed = parse_sizes(words);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().what;
  return parsed ? *parsed : Sizes{};
}

TEST(Sizes, AreBytesOrPowersOf1024) {
  EXPECT_EQ(sizes({"8", "64K", "2M", "1G", "4k"}), (Sizes{8, 65536, 2097152, 1073741824, 4096}));
}

TEST(Sizes, ARangeDoublesOrMultiplies) {
  EXPECT_EQ(sizes({"8:64"}), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(sizes({"8:2K:4"}), (Sizes{8, 32, 128, 512, 2048}));
  EXPECT_EQ(sizes({"12:12"}), (Sizes{12}));
  // An end that the steps do not meet is not in it.
  EXPECT_EQ(sizes({"8:100:3"}), (Sizes{8, 24, 72}));
  EXPECT_EQ(sizes({"8:64M"}).size(), 24U);
  EXPECT_EQ(sizes({"1G:1G:1024"}), (Sizes{1073741824}));
}

TEST(Sizes, HaveTheLimitsOfWhatIsMeasured) {
  const SizeLimits packets{1024, 128U << 10U};
  EXPECT_EQ(*parse_sizes({"1K:128K:128"}, packets), (Sizes{1024, 131072}));
  for (const char* word : {"512", "1536", "256K", "1K:256K", "0"}) {
    const Result<Sizes> parsed = parse_sizes({word}, packets);
    ASSERT_FALSE(parsed.has_value()) << word;
    EXPECT_NE(parsed.error().what.find("is not a multiple of 1K from 1K to 128K"),
              std::string::npos)
        << parsed.error().what;
  }
}

TEST(Sizes, TwiceNamedIsOnceTaken) {
  EXPECT_EQ(sizes({"32", "8:64", "1024", "1K"}), (Sizes{32, 8, 16, 64, 1024}));
}

TEST(Sizes, AreShownAsTheyAreTyped) {
  for (const char* word : {"8", "1000", "1K", "1028", "64K", "3M", "1G"})
    EXPECT_EQ(size_word(sizes({word}).front()), word);
}

struct Wrong {
  const char* word;
  const char* says;
  friend void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.word; }
};

class WrongSize : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSize, IsNamedWithWhatWouldBeRight) {
  const Result<Sizes> parsed = parse_size_word(GetParam().word);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_NE(parsed.error().what.find(GetParam().says), std::string::npos) << parsed.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    Words, WrongSize,
    testing::Values(Wrong{"", "'' is not a size"}, Wrong{"K", "'K' is not a size"},
                    Wrong{"eight", "'eight' is not a size"}, Wrong{"-8", "'-8' is not a size"},
                    Wrong{"8.5K", "'8.5K' is not a size"}, Wrong{"8KB", "'8KB' is not a size"},
                    Wrong{"0", "'0' is not a multiple of 4 from 4 to 1G"},
                    Wrong{"6", "'6' is not a multiple of 4 from 4 to 1G"},
                    Wrong{"2G", "'2G' is not a multiple of 4 from 4 to 1G"},
                    Wrong{"99999999999G", "'99999999999G' is not a multiple"},
                    Wrong{"99999999999999999999", "is not a size"}, Wrong{"8:", "'' is not a size"},
                    Wrong{":8", "'' is not a size"}, Wrong{"64:8", "'64:8' falls: 8 is below 64"},
                    Wrong{"8:64:1", "factor of '8:64:1' is '1'"},
                    Wrong{"8:64:", "factor of '8:64:' is ''"},
                    Wrong{"8:64:2K", "factor of '8:64:2K' is '2K'"},
                    Wrong{"8:64:4096", "whole number from 2 to 1024"},
                    Wrong{"8:16:2:2", "'8:16:2:2' is not a range"},
                    Wrong{"2:64", "'2' is not a multiple"}));

TEST(Perftest, TheMeanOfTheWholeRunIsRead) {
  const Result<Blocks> blocks = parse_perftest(
      "a word before\n"
      "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
      "100000,0.246,6.483,17.146,1.18,0.44,154247,58323\n");
  ASSERT_TRUE(blocks.has_value()) << blocks.error().what;
  ASSERT_EQ(blocks->size(), 1U);
  EXPECT_DOUBLE_EQ(blocks->front(), 17146);
}

TEST(Perftest, OutputWithoutAFigureIsAnError) {
  for (const char* output : {"", "iterations,overall_lat\n", "iterations,overall_lat\n10,fast\n",
                             "iterations,overall_lat\n10\n"})
    EXPECT_FALSE(parse_perftest(output).has_value()) << output;
}

}  // namespace
}  // namespace muster::cli
