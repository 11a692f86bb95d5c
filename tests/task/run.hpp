// What the tests of tasks share: ranks that are threads, and how they start.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "muster/muster.hpp"
#include "muster/task.hpp"

namespace muster::task::testing {

using namespace std::chrono_literals;

struct Setting {
  std::uint32_t ranks = 1;
  std::uint32_t lanes = 8;
  std::chrono::milliseconds timeout{60'000};
  OnExpiry on_expiry = OnExpiry::fail;
};

// Ranks that are threads of this process, so that expectations count; they end with that status.
inline void on_threads(const Setting& setting, const std::function<void(Team&)>& body,
                       int status = 0) {
  RunOptions options;
  options.ranks = setting.ranks;
  options.as = threads;
  options.lanes = setting.lanes;
  options.timeout = setting.timeout;
  options.on_expiry = setting.on_expiry;
  EXPECT_EQ(run(options, [&](Team& team) { body(team); }), status);
}

// Does the error say all of these?
template <class... Words>
void expect_says(const Error& error, ErrorCode code, const Words&... words) {
  EXPECT_EQ(error.code, code) << to_string(error);
  (
      [&] {
        EXPECT_NE(error.what.find(words), std::string::npos)
            << "\"" << error.what << "\" lacks \"" << words << "\"";
      }(),
      ...);
}

template <class Call, class... Words>
void expect_throws(Call&& call, ErrorCode code, const Words&... words) {
  try {
    call();
    FAIL() << "it threw nothing";
  } catch (const Failure& failure) {
    expect_says(failure.error(), code, words...);
  }
}

}  // namespace muster::task::testing
