// Running the lanes of a rank.
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <vector>

#include "base/process_limit.hpp"
#include "muster/team.hpp"
#include "team/control.hpp"

namespace muster {
namespace {

using LaneBody = std::function<detail::LaneOutcome(host::Fabric&)>;

// What the body said, unless it said nothing, or broke the contract and did not notice. The watch
// knows more about a failure than the status that the body passed on.
Result<void> judge(const detail::LaneOutcome& outcome, const host::LaneWatch& watch) {
  const bool silent = !outcome.has_value();
  const bool failed = outcome.has_value() && !*outcome;
  if (watch.error() && (silent || failed || watch.rejected())) return *watch.error();
  return outcome.value_or(Result<void>());
}

// Contract 10: the start of a launch acquires and its end releases, also what a relaxed wait has
// read and a relaxed notify will speak for. (ThreadSanitizer knows no fences; for it no notify is
// relaxed.)
void order_launches() {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
}

// How a lane has ended, and whether that ends the waits of the others.
struct Ended {
  Result<void> result;
  bool ends_others = true;
};

// A body that returns nothing has not given up: where waits may be tried again, one that has
// expired is told as the lane's result and ends nobody else.
bool goes_on(const detail::LaneOutcome& outcome, const Result<void>& result, OnExpiry on_expiry) {
  return !outcome && !result && result.error().code == ErrorCode::expired &&
         on_expiry == OnExpiry::retry;
}

Ended run_lane(host::TeamContext& team, Lane lane, std::uint32_t lanes, const LaneBody& body) {
  host::LaneWatch watch(team, lane, team.process().on_expiry);
  host::LaneContext context = team.lane_context(lane, lanes);
  context.watch = &watch;
  context.verify = context.verify || team.status() != WaitStatus::ok;
  host::Fabric fabric(context);
  order_launches();
  try {
    const auto outcome = body(fabric);
    order_launches();
    Result<void> result = judge(outcome, watch);
    const bool goes = goes_on(outcome, result, team.process().on_expiry);
    return {std::move(result), !goes};
  } catch (const Failure& failure) {
    return {failure.error()};
  } catch (const std::exception& thrown) {
    return {Error{ErrorCode::aborted, fmt::format("the body of a lane threw: {}", thrown.what()),
                  team.rank(), lane}};
  } catch (...) {
    return {Error{ErrorCode::aborted,
                  "the body of a lane threw something that is no std::exception", team.rank(),
                  lane}};
  }
}

void fail_for(host::TeamContext& team, Lane lane, const Error& error) {
  team.fail(WaitStatus::aborted, team.process().job_rank,
            fmt::format("{} lane {}: {}", team.called(team.rank()), lane.value, to_string(error)));
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
  if (count < 1 || count > max_lanes()) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("lanes: count is {}; it must be from 1 to {} (the option `lanes` of run)",
                    count, max_lanes()),
        rank()};
  }
  if (control_->closed()) return *control_->refusal();
  if (!control_->begin_lanes()) {
    return Error{ErrorCode::invalid_argument,
                 "lanes: lanes of this team are running already, for another thread or around this "
                 "call; they are run by one call of lane or lanes at a time",
                 rank()};
  }
  struct End {
    host::TeamControl& control;
    ~End() { control.end_lanes(); }
  } const end{*control_};
  std::vector<Result<void>> results(count);
  const auto run_one = [&](std::uint32_t lane) {
    const auto [result, ends_others] = run_lane(control_->team(), Lane{lane}, count, body);
    results[lane] = result;
    // The other lanes, here and on the peers, must not wait for one that has given up.
    if (!result && ends_others && count > 1)
      fail_for(control_->team(), Lane{lane}, results[lane].error());
  };
  try {
    if (count > 1) control_->lane_pool().grow(count);
  } catch (const std::system_error& refused) {
    const std::uint32_t lane = control_->lane_pool().lanes();  // the first that has none
    const Error no_thread{ErrorCode::system,
                          fmt::format("lanes: no thread for lane {} of {}: {}{}", lane, count,
                                      refused.what(), note_on_processes(refused.code().value())),
                          rank()};
    // Nor do the others run: they would wait for it, as the peers' lanes do.
    fail_for(control_->team(), Lane{lane}, no_thread);
    return no_thread;
  }
  control_->lane_pool().run(count, run_one);
  return first_cause(results);
}

}  // namespace muster
