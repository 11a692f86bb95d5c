// A contender of muster's own: calls in a lane of a team, as a user's program makes them.
#pragma once

#include <cstdint>
#include <span>

#include "bench/ranks.hpp"
#include "muster/run.hpp"
#include "muster/team.hpp"

namespace muster::bench {

// setup(team) makes what the calls need on every rank; what it returns makes, in the lane and
// before the clock starts, one call: setup(team)(fabric)(epoch), epoch = 1, 2, ...
template <class Setup>
Contender in_lane(const char* name, const Request& request, const Setup& setup) {
  const auto run = [as = request.as, setup](const Plan& plan) {
    return run_apart(plan, [&](std::span<RankLog> logs) {
      forget_launcher();
      const RunOptions options{.ranks = plan.ranks,
                               .as = as == As::threads ? muster::threads : muster::processes,
                               .lanes = 1};
      return muster::run(options, [&](Team& team) {
        pin(plan, team.rank().value);
        const auto make = setup(team);
        return team.lane([&](auto& fabric) {
          auto call = make(fabric);
          WaitStatus status = WaitStatus::ok;
          std::uint32_t epoch = 0;
          time_blocks(plan, logs[fabric.rank().value], [&] {
            status = call(++epoch);
            return status == WaitStatus::ok;
          });
          return status;
        });
      });
    });
  };
  return Contender{.name = name, .role = Role::muster, .as = request.as, .run = run};
}

}  // namespace muster::bench
