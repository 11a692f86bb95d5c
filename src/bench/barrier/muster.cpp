// muster's own barriers, as a user's program calls them.
#include <stdlib.h>

#include <array>

#include "bench/barrier/barrier.hpp"
#include "bench/ranks.hpp"
#include "muster/barrier.hpp"
#include "muster/run.hpp"
#include "muster/team.hpp"

namespace muster::bench {

namespace {

// The bench starts its own ranks, also where it is itself one of somebody's: forget them.
void forget_launcher() {
  for (const char* name : {"MUSTER_JOB_FD", "MUSTER_RANK", "MUSTER_RANKS", "LOCAL_RANK", "RANK",
                           "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_NTASKS"})
    unsetenv(name);
}

template <class Barrier>
int run_barrier(const Plan& plan, As as, std::span<RankLog> logs) {
  forget_launcher();
  const RunOptions options{.ranks = plan.ranks,
                           .as = as == As::threads ? muster::threads : muster::processes,
                           .lanes = 1};
  return muster::run(options, [&](Team& team) {
    pin(plan, team.rank().value);
    const Barrier barrier(team);
    return team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      time_blocks(plan, logs[fabric.rank().value], [&] {
        status = barrier.sync(fabric);
        return status == WaitStatus::ok;
      });
      return status;
    });
  });
}

template <class Barrier>
Contender contender(const char* name, As as) {
  const auto run = [as](const Plan& plan) {
    return run_apart(plan,
                     [&](std::span<RankLog> logs) { return run_barrier<Barrier>(plan, as, logs); });
  };
  return Contender{
      .name = name, .group = {}, .role = Role::muster, .as = as, .why_not = {}, .run = run};
}

}  // namespace

std::vector<Contender> muster_barriers(const Request& request) {
  return {contender<EpochBarrier>("EpochBarrier", request.as),
          contender<CreditBarrier>("CreditBarrier", request.as),
          contender<FlipBarrier>("FlipBarrier", request.as),
          contender<CounterBarrier>("CounterBarrier", request.as)};
}

}  // namespace muster::bench
