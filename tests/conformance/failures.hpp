// How failures that nobody dies of are tested: on ranks as threads and as processes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "muster/run.hpp"
#include "support/board.hpp"
#include "support/checks.hpp"

namespace muster {

class Failures : public ::testing::TestWithParam<RunAs> {
 protected:
  // Runs the body; its own verdict reaches the test through the board.
  int expect_held(std::uint32_t ranks, const std::function<Result<void>(Team&)>& body,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds(20000)) const {
    const testing::Board board;
    const int status = run({.ranks = ranks, .as = GetParam(), .timeout = timeout},
                           [&](Team& team) { board[team.rank().value].report(body(team)); });
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(board[rank].reported) << "rank " << rank << " did not end";
      EXPECT_FALSE(board[rank].failed) << "rank " << rank << ": " << board[rank].text.data();
    }
    return status;
  }
};

inline std::string name_of_start(const ::testing::TestParamInfo<RunAs>& one) {
  return one.param == threads ? "threads" : "processes";
}

}  // namespace muster
