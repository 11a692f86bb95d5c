// How wrong arguments are tested: one of two ranks makes a mistake, and both say what they saw.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "muster/muster.hpp"
#include "support/board.hpp"
#include "support/checks.hpp"

namespace muster {

using testing::Board;
using testing::Checks;
using Words = std::vector<std::string>;

// What a run looks at, whatever the build: what costs next to nothing, or all there is.
enum class Looks : std::uint8_t { cheap, all };

template <Looks looks>
class BadInputOf : public ::testing::TestWithParam<RunAs> {
 protected:
  void SetUp() override { setenv("MUSTER_VERIFY", looks == Looks::all ? "1" : "0", 1); }
  void TearDown() override { unsetenv("MUSTER_VERIFY"); }

  [[nodiscard]] RunOptions options() const {
    return {.ranks = 2, .as = this->GetParam(), .lanes = 4, .timeout = std::chrono::seconds(20)};
  }

  // Runs on two ranks; what the body says about itself reaches this test through the board, for a
  // team that has failed makes the exit code 1 whatever the body thinks of it.
  void expect_held(const std::function<Result<void>(Team&)>& body) const {
    const Board board;
    const int status = run(options(), [&](Team& team) { report_on(board, team, body); });
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(board[rank].reported) << "rank " << rank << " did not end; status " << status;
      EXPECT_FALSE(board[rank].failed) << "rank " << rank << ": " << board[rank].text.data();
    }
  }

 private:
  static void report_on(const Board& board, Team& team,
                        const std::function<Result<void>(Team&)>& body) {
    Result<void> held;
    try {
      held = body(team);
    } catch (const Failure& failure) {
      held = failure.error();
    }
    board[team.rank().value].report(held);
  }
};

inline std::string name_of_way(const ::testing::TestParamInfo<RunAs>& one) {
  return one.param == threads ? "threads" : "processes";
}

inline void expect_words(Checks& checks, const Error& error, ErrorCode code, const Words& words) {
  checks.holds(error.code == code,
               std::string("the code ") + name_of(code) + " of: " + to_string(error));
  for (const std::string& word : words) checks.mentions(error.what, word, "the error");
}

// ---- in a lane: the fabric's operations

struct Things {
  WindowRef<float> window;  // 4 x 6
  Signals never;
};

// Rank 0 does something wrong in a lane, while rank 1 waits for it.
template <class Bad>
std::function<Result<void>(Team&)> in_a_lane(Bad bad, const Words& words) {
  return [bad, words](Team& team) -> Result<void> {
    const Things things{*team.window<float>({4, 6}), *team.signals(1)};
    const Result<void> ran = team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) bad(fabric, things);
      return fabric.wait(things.never[0], Compare::ge, 1);
    });
    Checks checks;
    if (!checks.holds(!ran.has_value(), "the lane ends with an error")) return checks.done();
    const bool mine = team.rank() == Rank{0};
    expect_words(checks, ran.error(), mine ? ErrorCode::invalid_argument : ErrorCode::aborted,
                 words);
    if (mine) {
      checks.holds(ran.error().rank == Rank{0}, "the error names the rank");
      checks.holds(ran.error().lane == Lane{0}, "the error names the lane");
    } else {
      checks.mentions(ran.error().what, "rank 0", "what the other rank hears");
    }
    return checks.done();
  };
}

// ---- set-up: every rank gets an error, and the team goes on

// The call is refused on both ranks with these words, and the team still works.
template <class Call>
std::function<Result<void>(Team&)> refused(Call call, ErrorCode code, Words words) {
  return [call, code, words](Team& team) -> Result<void> {
    Checks checks;
    const auto result = call(team);
    if (!checks.holds(!result.has_value(), "the call is refused")) return checks.done();
    expect_words(checks, result.error(), code, words);
    checks.ok(team.window<float>({4}), "a right call afterwards");
    checks.ok(team.sync(), "sync afterwards");
    return checks.done();
  };
}

}  // namespace muster
