// Helpers to ask the checker.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "muster/check.hpp"

namespace muster::check {

using Program = std::function<void(model::Team&)>;

inline Options options_for(std::uint32_t ranks, Profile profile = Profile::direct,
                           std::uint32_t calls = 1) {
  Options options;
  options.ranks = ranks;
  options.profile = profile;
  options.calls = calls;
  return options;
}

inline std::string told(const Report& report) {
  std::string text = name_of(report.verdict);
  for (const Finding& finding : report.findings)
    text += std::string("\n  ") + name_of(finding.kind) + ": " + finding.what;
  if (!report.bound.empty()) text += "\n  " + report.bound;
  if (!report.why_search.empty()) text += "\n  " + report.why_search;
  return text;
}

inline bool answered(const Report& report) {
  return report.verdict == Verdict::certified || report.verdict == Verdict::complete;
}

}  // namespace muster::check

#define EXPECT_VERDICT(report, expected) \
  EXPECT_EQ((report).verdict, muster::check::Verdict::expected) << muster::check::told(report)
#define EXPECT_FINDS(report, kind) \
  EXPECT_TRUE((report).has(muster::check::Kind::kind)) << muster::check::told(report)
