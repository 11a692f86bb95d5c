// Barriers in rounds, barriers that the lanes of a rank share, and loops in a scope.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <thread>
#include <vector>

#include "conformance/barrier_bodies.hpp"
#include "conformance/cases.hpp"
#include "conformance/delay.hpp"
#include "muster/barrier.hpp"

namespace muster::conformance {

// How many lanes each launch runs, one after the other: the rows were made for four.
inline constexpr std::uint32_t launches[] = {3, 1, 4, 2, 2, 3, 1, 4};
inline constexpr std::int64_t most_lanes = 4;

// Each round every lane stamps its place, all lanes of the rank meet, and each finds all stamps.
template <class F, class First, class Second>
void grid_round(F& fabric, Checks& checks, WindowRef<std::uint32_t> board, std::uint32_t round,
                First first, Second second) {
  fabric.local(board)[fabric.lane().value] = stamp(round, fabric.lane(), fabric.rank());
  checks.ok(first(), "the barrier after the stamps");
  for (std::uint32_t lane = 0; lane < fabric.lanes(); ++lane)
    checks.equal<std::uint32_t>(fabric.local(board)[lane], stamp(round, Lane{lane}, fabric.rank()),
                                "a stamp");
  checks.ok(second(), "the barrier after the reads");
}

template <class Team>
Result<void> grid_orders_lanes(Team& team) {
  const auto board = *team.template window<std::uint32_t>({most_lanes});
  const GridBarrier barrier(team);
  std::uint32_t round = 0;
  for (const std::uint32_t lanes : launches) {
    const Result<void> ran = team.lanes(lanes, [&, round](auto& fabric) -> Result<void> {
      Checks checks;
      Random random = random_of(fabric);
      for (std::uint32_t step = 1; step <= 20 && checks.done(); ++step) {
        random_delay(random);
        const auto sync = [&] { return barrier.sync(fabric); };
        const auto split = [&] {
          const auto arrival = barrier.arrive(fabric);
          random_delay(random);
          return barrier.wait(fabric, arrival);
        };
        const auto leave = [&] { return barrier.sync(fabric, use::exit); };
        if (step % 2 == 0)
          grid_round(fabric, checks, board, round + step, sync, leave);
        else
          grid_round(fabric, checks, board, round + step, split, leave);
      }
      return checks.done();
    });
    if (!ran) return ran;
    round += 20;
  }
  return {};
}

// No lane passes before the last of its rank has come.
template <class Team>
Result<void> grid_nobody_passes_early(Team& team) {
  const auto late = *team.template window<std::uint32_t>({1});
  const GridBarrier barrier(team);
  return team.lanes(3, [&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::uint32_t round = 1; round <= 9; ++round) {
      if (round % 3 == fabric.lane().value) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        fabric.local(late)[0] = round;
      }
      checks.ok(barrier.sync(fabric), "the barrier");
      checks.equal<std::uint32_t>(fabric.local(late)[0], round, "the late lane's store");
      checks.ok(barrier.sync(fabric), "the second barrier");
    }
    return checks.done();
  });
}

// Two lanes produce and two consume: each consumer finds what
// both producers have written in this turn, and they overwrite it once both have read. In each
// launch, which go on where the last one ended.
template <class Team>
Result<void> grid_producers_and_consumers(Team& team) {
  constexpr std::uint32_t each = 2;
  const auto board = *team.template window<std::uint32_t>({each});
  const auto filled = GridBarrier(team).expecting(each);
  const auto emptied = GridBarrier(team).expecting(each);
  std::uint32_t round = 0;
  for (int launch = 0; launch < 3; ++launch) {
    const Result<void> ran = team.lanes(most_lanes, [&, round](auto& fabric) -> Result<void> {
      Checks checks;
      Random random = random_of(fabric);
      const std::uint32_t lane = fabric.lane().value;
      for (std::uint32_t step = round + 1; step <= round + 40 && checks.done(); ++step) {
        random_delay(random);
        if (lane < each) {
          fabric.local(board)[lane] = stamp(step, fabric.lane(), fabric.rank());
          checks.ok(filled.post(fabric), "the arrival of a producer");
          random_delay(random);
          checks.ok(emptied.wait(fabric, use::exit), "the wait for the consumers");
        } else {
          checks.ok(filled.wait(fabric), "the wait for the producers");
          for (std::uint32_t producer = 0; producer < each; ++producer)
            checks.equal<std::uint32_t>(fabric.local(board)[producer],
                                        stamp(step, Lane{producer}, fabric.rank()), "a stamp");
          checks.ok(emptied.post(fabric, use::exit), "the arrival of a consumer");
        }
      }
      return checks.done();
    });
    if (!ran) return ran;
    round += 40;
  }
  return {};
}

// All lanes arrive and wait, as in GridBarrier itself: in one call, in two, and in a loop.
template <class Team>
Result<void> grid_arrivals_of_all(Team& team) {
  const auto board = *team.template window<std::uint32_t>({most_lanes});
  const auto barrier = GridBarrier(team).expecting(most_lanes);
  return team.lanes(most_lanes, [&](auto& fabric) -> Result<void> {
    Checks checks;
    const auto sync = [&] { return barrier.sync(fabric); };
    const auto split = [&] { return barrier.wait(fabric, barrier.arrive(fabric)); };
    for (std::uint32_t round = 1; round <= 20 && checks.done(); ++round)
      grid_round(fabric, checks, board, round, sync, split);
    const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
      const auto inside = [&] { return scope.sync(); };
      for (std::uint32_t round = 21; round <= 40 && checks.done(); ++round)
        grid_round(fabric, checks, board, round, inside, inside);
    });
    checks.ok(met, "the loop");
    return checks.done();
  });
}

// Every lane of every rank puts its stamp into a place of its own at every rank.
template <class F, class First, class Second>
void system_round(F& fabric, Checks& checks, const Exchange& windows, std::uint32_t round,
                  First first, Second second) {
  const std::int64_t own = fabric.lane().value;
  fabric.local(windows.outbox)[own] = stamp(round, fabric.lane(), fabric.rank());
  for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
    fabric.put(windows.inbox, Rank{peer}, windows.inbox.at(own, fabric.rank().value),
               windows.outbox, own, 1);
  checks.ok(first(), "the barrier after the puts");
  for (std::uint32_t lane = 0; lane < fabric.lanes(); ++lane)
    for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
      checks.equal<std::uint32_t>(fabric.local(windows.inbox)[windows.inbox.at(lane, writer)],
                                  stamp(round, Lane{lane}, Rank{writer}), "a stamp");
  checks.ok(second(), "the barrier after the reads");
}

template <class Team>
Result<void> system_orders_all_lanes(Team& team) {
  const Exchange windows = make_exchange(team, most_lanes);
  const SystemBarrier barrier(team);
  const SystemBarrier tail(team);
  const std::uint32_t steps = team.size() > 8 ? 4 : 10;
  std::uint32_t round = 0;
  for (const std::uint32_t lanes : launches) {
    const Result<void> ran = team.lanes(lanes, [&, round](auto& fabric) -> Result<void> {
      Checks checks;
      Random random = random_of(fabric);
      for (std::uint32_t step = 1; step <= steps && checks.done(); ++step) {
        random_delay(random);
        const auto sync = [&] { return barrier.sync(fabric); };
        const auto leave = [&] { return tail.sync(fabric, use::exit); };
        system_round(fabric, checks, windows, round + step, sync, leave);
      }
      return checks.done();
    });
    if (!ran) return ran;
    round += steps;
  }
  return {};
}

// The same calls inside of a scope and outside, in turn: they continue each other.
template <class Team, class Barrier, std::uint32_t lanes>
Result<void> scoped_loops(Team& team) {
  const Exchange windows = make_exchange(team, lanes);
  const Barrier barrier(team);
  const std::uint32_t steps = team.size() > 8 ? 4 : 12;
  return team.lanes(lanes, [&, steps](auto& fabric) -> Result<void> {
    Checks checks;
    std::uint32_t round = 0;
    for (int turn = 0; turn < 3; ++turn) {
      const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
        const auto sync = [&] { return scope.sync(); };
        const auto split = [&] {
          scope.arrive();
          return scope.wait();
        };
        for (std::uint32_t step = 0; step < steps && checks.done(); ++step)
          exchange_round(fabric, checks, windows.inbox, windows.outbox, ++round, sync, split);
      });
      checks.ok(met, "the loop");
      const auto outside = [&] { return barrier.sync(fabric); };
      exchange_round(fabric, checks, windows.inbox, windows.outbox, ++round, outside, outside);
      checks.ok(barrier.scoped(fabric, [](auto&) {}), "a loop without a call");
    }
    return checks.done();
  });
}

template <class Team>
Result<void> grid_scoped_loops(Team& team) {
  const auto board = *team.template window<std::uint32_t>({most_lanes});
  const GridBarrier barrier(team);
  return team.lanes(3, [&](auto& fabric) -> Result<void> {
    Checks checks;
    const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
      const auto sync = [&] { return scope.sync(); };
      for (std::uint32_t round = 1; round <= 20 && checks.done(); ++round)
        grid_round(fabric, checks, board, round, sync, sync);
    });
    checks.ok(met, "the loop");
    const auto outside = [&] { return barrier.sync(fabric); };
    grid_round(fabric, checks, board, 21, outside, outside);
    return checks.done();
  });
}

template <class Team>
Result<void> dissemination_wraps(Team& team) {
  return through_the_wrap<Team, DisseminationBarrier>(team, [](auto& fabric, Rows rows) {
    fabric.set_counter(rows.epoch(fabric.lane()), near_wrap);
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, near_wrap, NotifyOp::set);
    });
  });
}

// An earlier launch moves the sum and the epochs to where they wrap; the team meets in between.
template <class Team>
Result<void> system_and_grid_wrap(Team& team) {
  const Exchange windows = make_exchange(team, most_lanes);
  const SystemBarrier barrier(team);
  const Rows grid = barrier.grid_rows();
  const Result<void> moved = team.lanes(3, [&](auto& fabric) {
    fabric.set_counter(barrier.rows().epoch(fabric.lane()), near_wrap);
    fabric.set_counter(grid.epoch(fabric.lane()), near_wrap);
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(barrier.rows().from(fabric.lane(), fabric.rank()), peer, near_wrap,
                    NotifyOp::set);
    });
    if (fabric.lane() == Lane{0})
      fabric.notify(grid.from(Lane{0}, Rank{0}), fabric.rank(), near_wrap, NotifyOp::set);
  });
  if (!moved) return moved;
  if (const Result<void> met = team.sync(); !met) return met;
  return team.lanes(3, [&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::uint32_t round = 1; round <= 30 && checks.done(); ++round) {
      const auto sync = [&] { return barrier.sync(fabric); };
      system_round(fabric, checks, windows, round, sync, sync);
    }
    checks.holds(fabric.counter(barrier.rows().epoch(fabric.lane())) < near_wrap, "the epoch");
    checks.holds(fabric.counter(grid.epoch(fabric.lane())) < near_wrap, "the sum");
    return checks.done();
  });
}

// Barrier with the algorithm that is not the automatic one at this size, in its place.
template <BarrierAlgorithm chosen>
class Chosen : public Barrier {
 public:
  template <class Team>
  explicit Chosen(Team& team) : Barrier(team, chosen) {}
};

template <class Team>
std::vector<Case<Team>> barrier_lane_cases() {
  using Rounds = Chosen<BarrierAlgorithm::dissemination>;
  std::vector<Case<Team>> cases{
      {"GridOrdersLanes", grid_orders_lanes<Team>, Sizes::few},
      {"GridNobodyPassesEarly", grid_nobody_passes_early<Team>, Sizes::few},
      {"GridScopedLoops", grid_scoped_loops<Team>, Sizes::few},
      {"GridProducersAndConsumers", grid_producers_and_consumers<Team>, Sizes::few},
      {"GridArrivalsOfAll", grid_arrivals_of_all<Team>, Sizes::few},
      {"SystemOrdersAllLanes", system_orders_all_lanes<Team>, Sizes::all},
      {"SystemAndGridWrap", system_and_grid_wrap<Team>, Sizes::all},
      {"DisseminationWraps", dissemination_wraps<Team>, Sizes::all},
      {"EpochScopedLoops", scoped_loops<Team, EpochBarrier, 3>, Sizes::all},
      {"CounterScopedLoops", scoped_loops<Team, CounterBarrier, 3>, Sizes::all},
      {"CreditScopedLoops", scoped_loops<Team, CreditBarrier, 3>, Sizes::all},
      {"FlipScopedLoops", scoped_loops<Team, FlipBarrier, 3>, Sizes::all},
      {"DisseminationScopedLoops", scoped_loops<Team, DisseminationBarrier, 3>, Sizes::all},
      {"SystemScopedLoops", scoped_loops<Team, SystemBarrier, 3>, Sizes::all},
      {"BarrierScopedLoops", scoped_loops<Team, Barrier, 1>, Sizes::all_and_64},
      {"BarrierInRoundsScopedLoops", scoped_loops<Team, Rounds, 1>, Sizes::all},
  };
  add_barrier_cases<Team, DisseminationBarrier>(
      cases, "DisseminationData", "DisseminationDataOnThreeLanes", "DisseminationUses",
      "DisseminationNobodyPassesEarly");
  add_barrier_cases<Team, SystemBarrier>(cases, "SystemData", "SystemDataOnThreeLanes",
                                         "SystemUses", "SystemNobodyPassesEarly");
  add_barrier_cases<Team, Barrier>(cases, "BarrierData", "BarrierDataOnThreeLanes", "BarrierUses",
                                   "BarrierNobodyPassesEarly");
  return cases;
}

}  // namespace muster::conformance
