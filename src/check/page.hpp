// Reports as one self-contained HTML page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/configuration.hpp"
#include "check/diagram.hpp"
#include "muster/check.hpp"

namespace muster::check {

// The execution of a configuration that is run with one of its repairs.
struct MendedRun {
  Repair repair;
  Report report;  // with events
};

// What one profile has answered.
struct PageResult {
  Options options;  // as asked
  Report report;
  // Where it is refuted: the smallest failure, and what mends it. Else the execution that is shown,
  // of the configuration as it was asked.
  Smallest shown;
  std::vector<MendedRun> mends;
  std::optional<Profile> same_as;  // the failure is that of this profile: it is shown there alone
};

// A check, and what each of its profiles has answered.
struct PageCheck {
  const Entry* entry = nullptr;
  std::vector<PageResult> results;
  std::vector<std::string> hints;  // lines, where they were asked for
};

// The whole page.
[[nodiscard]] std::string page_of(const std::vector<PageCheck>& checks);

// The part of it that is one execution: the diagram, and the source beside it. `id` is what all ids
// in it begin with.
[[nodiscard]] std::string scene_of(const Report& report, const std::string& id);

// The frame: "{{title}}" and "{{content}}" stand for what comes in.
extern const char* const page_frame;

}  // namespace muster::check
