// What set-up says to arguments, the same on every set-up side: a host team, the model's, a GPU
// world.
#pragma once

#include <cstdint>

#include "conformance/cases.hpp"

namespace muster::conformance {

// Extents are at least 1, fold into rows and columns, and are counted in elements.
template <class Team>
Result<void> extents(Team& team) {
  constexpr std::int64_t huge = std::int64_t{1} << 40U;
  const auto none = ErrorCode::invalid_argument;
  const auto too_many = ErrorCode::out_of_memory;
  Checks checks;
  checks.refused(team.template window<float>({}), none, "no extents", "extents is empty");
  checks.refused(team.template window<float>({0}), none, "{0}", "extents[0] is 0", "at least 1");
  checks.refused(team.template window<float>({3, 0}), none, "{3, 0}", "extents[1] is 0");
  checks.refused(team.template window<float>({0, 4}), none, "{0, 4}", "extents[0] is 0");
  checks.refused(team.template window<float>({-3, 4}), none, "{-3, 4}", "extents[0] is -3");
  // Bytes mistaken for elements: the product of all, of those that become rows, with the element.
  for (const auto& window :
       {team.template window<double>({huge, huge}), team.template window<double>({huge, huge, 1}),
        team.template window<double>({huge << 20U}),
        team.template window<double>({huge << 20U, 2})})
    checks.refused(window, too_many, "too many", "elements of 8 bytes, not bytes");
  const auto folded = team.template window<std::int16_t>({2, 3, 5});
  if (checks.ok(folded, "{2, 3, 5}")) {
    checks.equal(folded->rows, 6, "the rows of {2, 3, 5}");
    checks.equal(folded->cols, 5, "the columns of {2, 3, 5}");
  }
  const auto flat = team.template window<std::int16_t>({7});
  if (checks.ok(flat, "{7}")) {
    checks.equal(flat->rows, 1, "the rows of {7}");
    checks.equal(flat->cols, 7, "the columns of {7}");
  }
  return checks.done();
}

// What becomes of a lane whose body returns a status.
template <class Team>
Result<void> statuses(Team& team) {
  Checks checks;
  const auto ends = [&](WaitStatus status) {
    return team.lane([status](auto& /*fabric*/) { return status; });
  };
  checks.ok(ends(WaitStatus::ok), "a lane that returned ok");
  const auto refuses = [&](WaitStatus status, ErrorCode code, const char* words) {
    checks.refused(ends(status), code, name_of(status), words);
  };
  refuses(WaitStatus::pending, ErrorCode::aborted, "aborted");
  refuses(WaitStatus::refused, ErrorCode::expired, "a call of it had failed on this lane");
  refuses(WaitStatus::expired, ErrorCode::expired, "reached its deadline");
  refuses(WaitStatus::aborted, ErrorCode::aborted, "the team was aborted");
  refuses(WaitStatus::peer_lost, ErrorCode::peer_lost, "a rank died");
  refuses(WaitStatus::invalid, ErrorCode::invalid_argument, "called wrongly");
  return checks.done();
}

}  // namespace muster::conformance
