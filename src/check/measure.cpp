// The speed of the model, for `muster bench check`.
#include <chrono>

#include "muster/barrier/counter.hpp"
#include "muster/check.hpp"

namespace muster::check {

double StepRate::per_second() const {
  return seconds > 0 ? static_cast<double>(steps) / seconds : 0;
}

// The search for a barrier on one shared cell, four ranks: branching, deferral and replay as in
// every search, with fibers, clocks and the judgement of each deposit.
StepRate measure_steps(double seconds) {
  Options options;
  options.ranks = 4;
  options.calls = 2;
  const auto body = [](model::Team& team) {
    const CounterBarrier barrier(team);
    (void)team.lane([&](auto& fabric) {
      for (std::uint32_t call = 0; call < team.calls(); ++call)
        if (barrier.sync(fabric) != WaitStatus::ok) return;
    });
  };
  StepRate rate;
  const auto start = std::chrono::steady_clock::now();
  do {
    const Report report = explore(options, body);
    rate.steps += report.steps;
    rate.executions += report.executions + report.dropped;
    rate.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (rate.seconds < seconds);
  return rate;
}

}  // namespace muster::check
