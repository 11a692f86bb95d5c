// muster's own barriers, as a user's program calls them.
#include <array>

#include "bench/barrier/barrier.hpp"
#include "bench/ranks.hpp"
#include "muster/barrier.hpp"
#include "muster/run.hpp"
#include "muster/team.hpp"

namespace muster::bench {

namespace {

// body(barrier, fabric, timed) calls timed(meet) once, with one call of the barrier as meet().
template <class Barrier, class Body>
int run_barrier(const Plan& plan, As as, std::span<RankLog> logs, const Body& body) {
  forget_launcher();
  const RunOptions options{.ranks = plan.ranks,
                           .as = as == As::threads ? muster::threads : muster::processes,
                           .lanes = 1};
  return muster::run(options, [&](Team& team) {
    pin(plan, team.rank().value);
    const Barrier barrier(team);
    return team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      body(barrier, fabric, [&](auto&& sync) {
        time_blocks(plan, logs[fabric.rank().value], [&] {
          status = sync();
          return status == WaitStatus::ok;
        });
      });
      return status;
    });
  });
}

template <class Barrier, class Body>
Contender contender(const char* name, As as, const Body& body) {
  const auto run = [as, body](const Plan& plan) {
    return run_apart(
        plan, [&](std::span<RankLog> logs) { return run_barrier<Barrier>(plan, as, logs, body); });
  };
  return Contender{.name = name, .role = Role::muster, .as = as, .run = run};
}

template <class Barrier>
Contender plain(const char* name, As as) {
  return contender<Barrier>(name, as, [](const Barrier& barrier, auto& fabric, const auto& timed) {
    timed([&] { return barrier.sync(fabric); });
  });
}

template <class Barrier>
Contender scoped(const char* name, As as) {
  return contender<Barrier>(name, as, [](const Barrier& barrier, auto& fabric, const auto& timed) {
    (void)barrier.scoped(fabric, [&](auto& scope) { timed([&] { return scope.sync(); }); });
  });
}

}  // namespace

std::vector<Contender> muster_barriers(const Request& request) {
  const As as = request.as;
  return {plain<EpochBarrier>("EpochBarrier", as),
          scoped<EpochBarrier>("EpochBarrier, scoped", as),
          plain<CreditBarrier>("CreditBarrier", as),
          plain<FlipBarrier>("FlipBarrier", as),
          plain<CounterBarrier>("CounterBarrier", as),
          plain<DisseminationBarrier>("DisseminationBarrier", as)};
}

}  // namespace muster::bench
