#include "conformance/ucx_job.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>

#include "fabric/ucx/team_core.hpp"
#include "net/find.hpp"

namespace muster::conformance {
namespace {

// Once for this process, at the first case.
Result<std::optional<detail::net::Found>>& job() {
  static auto found = detail::net::find_each_other();
  return found;
}

}  // namespace

bool in_ucx_job() {
  // Asked before main, and after the ranks have found each other, which hides the variable.
  static const bool in_job = std::getenv("MUSTER_NET_FD") != nullptr;
  return in_job;
}

Result<void> run_and_close(ucx::Team& team, const std::function<Result<void>(ucx::Team&)>& body) {
  Result<void> outcome;
  try {
    outcome = body(team);
  } catch (const Failure& failure) {
    outcome = failure.error();
  }
  // The others must not wait for a rank that has given up.
  if (!outcome) team.abort(to_string(outcome.error()));
  const Result<void> left = team.close();
  return outcome ? left : outcome;
}

Result<void> run_in_ucx_job(const std::function<Result<void>(ucx::Team&)>& body) {
  auto& found = job();
  if (!found) return found.error();
  if (!*found) return Error{ErrorCode::unavailable, "nobody has started this process as a rank"};
  Result<ucx::Team> team =
      ucx::join(*(**found).bootstrap, ucx::Settings{4, std::chrono::seconds(60)});
  if (!team) return team.error();
  return run_and_close(*team, body);
}

}  // namespace muster::conformance
