// Bodies in which ranks make different calls, in verifying runs: what each rank is told.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "muster/muster.hpp"
#include "support/board.hpp"

namespace muster::testing {

using Words = std::vector<std::string>;
using Body = std::function<Result<void>(Team&)>;

class Mismatch : public ::testing::TestWithParam<RunAs> {
 protected:
  void SetUp() override { setenv("MUSTER_VERIFY", "1", 1); }
  void TearDown() override { unsetenv("MUSTER_VERIFY"); }

  // What each rank's body returned, in words; empty where all was well.
  std::vector<std::string> outcomes(
      std::uint32_t ranks, const Body& body,
      std::chrono::milliseconds timeout = std::chrono::seconds(20)) const {
    const Board board;
    const RunOptions options{.ranks = ranks, .as = GetParam(), .timeout = timeout};
    (void)run(options, [&](Team& team) {
      Result<void> ended;
      try {
        ended = body(team);
      } catch (const Failure& failure) {
        ended = failure.error();
      }
      board[team.rank().value].report(ended);
    });
    std::vector<std::string> texts;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(board[rank].reported) << "rank " << rank << " did not end";
      texts.emplace_back(board[rank].failed ? board[rank].text.data() : "");
    }
    return texts;
  }

  void expect_named(std::uint32_t ranks, const Body& body, const Words& words) const {
    for (const std::string& text : outcomes(ranks, body))
      for (const std::string& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
  }
  void expect_accepted(std::uint32_t ranks, const Body& body) const {
    for (const std::string& text : outcomes(ranks, body)) EXPECT_EQ(text, "");
  }
};

inline std::string name_of_way(const ::testing::TestParamInfo<RunAs>& one) {
  return one.param == threads ? "threads" : "processes";
}

}  // namespace muster::testing
