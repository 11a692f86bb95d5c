// Running the lanes of a rank.
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <vector>

#include "base/process_limit.hpp"
#include "fabric/ucx/team_core.hpp"
#include "fabric/ucx/wire_state.hpp"

namespace muster::ucx {
namespace {

using LaneBody = std::function<detail::LaneOutcome(Fabric&)>;

// What the body said, unless it said nothing, or broke the contract and did not notice.
Result<void> judge(const detail::LaneOutcome& outcome, const Wire& wire) {
  const bool silent = !outcome.has_value();
  const bool failed = outcome.has_value() && !*outcome;
  if (wire.error() && (silent || failed || wire.rejected())) return *wire.error();
  return outcome.value_or(Result<void>());
}

// How a lane has ended, and whether that ends the waits of the others.
struct Ended {
  Result<void> result;
  bool ends_others = true;
};

Ended run_lane(TeamCore& core, Lane lane, std::uint32_t lanes, const LaneBody& body) {
  const OnExpiry on_expiry = core.network().settings().on_expiry;
  auto state = std::make_unique<Wire::State>(core.shared_network(), core.state(), lane, on_expiry);
  state->writer_of = [&core](Signal signal) { return core.writer_of(signal); };
  Wire wire(std::move(state));
  Fabric fabric(LaneContext{core.state()->rank(), core.state()->size(), lane, lanes,
                            core.network().segments().table(), core.known_teams(), &wire});
  std::atomic_thread_fence(std::memory_order_acq_rel);  // contract 10
  const auto failed = [&](ErrorCode code, std::string what) -> Ended {
    return {Error{code, std::move(what), core.state()->rank(), lane}};
  };
  try {
    const auto outcome = body(fabric);
    // The end of a launch flushes: what this lane has sent has taken effect when lanes() returns.
    (void)wire.flush();
    std::atomic_thread_fence(std::memory_order_acq_rel);
    Result<void> result = judge(outcome, wire);
    // A body that returns nothing has not given up where waits may be tried again.
    const bool goes_on = !outcome && !result && result.error().code == ErrorCode::expired &&
                         on_expiry == OnExpiry::retry;
    return {std::move(result), !goes_on};
  } catch (const Failure& failure) {
    return {failure.error()};
  } catch (const std::exception& thrown) {
    return failed(ErrorCode::aborted, fmt::format("the body of a lane threw: {}", thrown.what()));
  } catch (...) {
    return failed(ErrorCode::aborted,
                  "the body of a lane threw something that is no std::exception");
  }
}

void fail_for(TeamCore& core, Lane lane, const Error& error) {
  TeamState& state = *core.state();
  core.network().fail(state, WaitStatus::aborted,
                      {ErrorCode::aborted, fmt::format("{} lane {}: {}", state.called(state.rank()),
                                                       lane.value, to_string(error))});
}

// The first lane's error, but one that is no mere echo of another's before one that is.
Result<void> first_cause(const std::vector<Result<void>>& results) {
  const Result<void>* echo = nullptr;
  for (const Result<void>& result : results) {
    if (result) continue;
    if (result.error().code != ErrorCode::aborted) return result;
    if (echo == nullptr) echo = &result;
  }
  return echo == nullptr ? Result<void>() : *echo;
}

}  // namespace

Result<void> Team::run_lanes(std::uint32_t count, const LaneBody& body) {
  const auto refused = [&](std::string what) {
    return Error{ErrorCode::invalid_argument, std::move(what), rank()};
  };
  if (count < 1 || count > max_lanes())
    return refused(
        fmt::format("lanes: count is {}; it must be from 1 to {} (the option `lanes` of run)",
                    count, max_lanes()));
  if (core_->closed()) return *core_->refusal();
  if (!core_->begin_lanes())
    return refused(
        "lanes: lanes of this team are running already, for another thread or around this call; "
        "they are run by one call of lane or lanes at a time");
  struct End {
    TeamCore& core;
    ~End() { core.end_lanes(); }
  } const end{*core_};
  std::vector<Result<void>> results(count);
  const auto run_one = [&](std::uint32_t lane) {
    const auto [result, ends_others] = run_lane(*core_, Lane{lane}, count, body);
    results[lane] = result;
    // The other lanes, here and on the peers, must not wait for one that has given up.
    if (!result && ends_others && count > 1) fail_for(*core_, Lane{lane}, results[lane].error());
  };
  try {
    if (count > 1) core_->lane_pool().grow(count);
  } catch (const std::system_error& no_thread) {
    const std::uint32_t lane = core_->lane_pool().lanes();  // the first that has none
    const Error error{ErrorCode::system,
                      fmt::format("lanes: no thread for lane {} of {}: {}{}", lane, count,
                                  no_thread.what(), note_on_processes(no_thread.code().value())),
                      rank()};
    fail_for(*core_, Lane{lane}, error);
    return error;
  }
  core_->lane_pool().run(count, run_one);
  return first_cause(results);
}

}  // namespace muster::ucx
