// Signals and counters: what notify, wait, test, wait_any and read promise, lane by lane.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/handoff.hpp"

namespace muster::conformance {

// Who am I, of how many; and no two ranks are the same one.
template <class Team>
Result<void> identity(Team& team) {
  const Rows rows = *team.rows();
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    checks.equal(fabric.rank(), team.rank(), "the fabric's rank");
    checks.equal(fabric.size(), team.size(), "the fabric's size");
    checks.holds(fabric.rank().value < fabric.size(), "rank < size");
    checks.equal(fabric.lane(), Lane{0}, "the only lane");
    checks.equal(fabric.lanes(), 1, "lanes()");
    checks.holds(fabric.thread() < fabric.threads(), "thread < threads");
    checks.holds(team.max_lanes() >= 1, "max_lanes() >= 1");
    checks.equal(rows.ranks, team.size(), "rows.ranks");
    checks.equal(rows.lanes, team.max_lanes(), "rows.lanes");

    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(mine, peer, fabric.rank().value + 1, NotifyOp::set);
    });
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows.from(fabric.lane(), peer);
      checks.ok(fabric.wait(theirs, Compare::ne, 0), "the wait for a peer's number");
      checks.equal(fabric.read(theirs), peer.value + 1, "a peer's number");
    });
    return checks.done();
  });
}

struct CompareStep {
  NotifyOp op;
  std::uint32_t value;
  Compare compare;  // does not hold before the deposit, and holds after it
  std::uint32_t expected;
  std::uint32_t then;  // what the cell reads afterwards
};

inline constexpr CompareStep compare_steps[] = {
    {NotifyOp::set, 5, Compare::eq, 5, 5},
    {NotifyOp::set, 6, Compare::ne, 5, 6},
    {NotifyOp::set, 7, Compare::ge, 7, 7},
    {NotifyOp::add, 1, Compare::gt, 7, 8},
    {NotifyOp::set, 3, Compare::lt, 8, 3},
    {NotifyOp::set, 2, Compare::le, 2, 2},
    // Wrap-safe: below zero is less than zero, and the sum passes from there to 0x10.
    {NotifyOp::set, 0xfffffff0U, Compare::lt, 0, 0xfffffff0U},
    {NotifyOp::add, 0x20, Compare::ge, 0xfffffff8U, 0x10},
    {NotifyOp::add, ~0U, Compare::lt, 0x10, 0xf},
    {NotifyOp::set, 0, Compare::eq, 0, 0},
};

// Each comparison ends on the deposit that satisfies it, on a ring, with both orders.
template <class Team>
Result<void> notify_and_wait(Team& team) {
  const Signals signals = *team.signals(2);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Signal data = signals[0];   // written by the left neighbour
    const Signal taken = signals[1];  // written by the right neighbour
    std::uint32_t count = 0;
    for (const bool relaxed : {false, true}) {
      const Order notify = relaxed ? Order::relaxed : Order::release;
      const Order wait = relaxed ? Order::relaxed : Order::acquire;
      for (const CompareStep& step : compare_steps) {
        ++count;
        fabric.notify(data, right_of(fabric), step.value, step.op, notify);
        checks.ok(fabric.wait(data, step.compare, step.expected, wait), "the wait");
        checks.equal(fabric.read(data), step.then, "the cell");
        // The next deposit must not come before this one has been read.
        fabric.notify(taken, left_of(fabric), count, NotifyOp::set, notify);
        if (!checks.ok(fabric.wait(taken, Compare::ge, count, wait), "the wait for the reader"))
          return checks.done();
      }
    }
    return checks.done();
  });
}

// All ranks add to one cell of rank 0, itself too: no deposit is lost.
template <class Team>
Result<void> adds_commute(Team& team) {
  constexpr std::uint32_t adds = 100;
  const Signals sum = *team.signals(1);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::uint32_t i = 0; i < adds; ++i)
      fabric.notify(sum[0], Rank{0}, 1 + i % 3, NotifyOp::add, Order::relaxed);
    if (fabric.rank() == Rank{0}) {
      const std::uint32_t each = adds / 3 * 6 + 1;  // 33 times 1 + 2 + 3, and a 1
      checks.ok(fabric.wait(sum[0], Compare::ge, each * fabric.size()), "the wait for the sum");
      checks.equal(fabric.read(sum[0]), each * fabric.size(), "the sum");
    }
    return checks.done();
  });
}

// Contract 4: deposits by one lane into one cell take effect in program order, relaxed ones too.
template <class Team>
Result<void> deposits_keep_their_order(Team& team) {
  constexpr std::uint32_t last = 300;
  const Signals signals = *team.signals(1);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::uint32_t value = 1; value <= last; ++value)
      fabric.notify(signals[0], right_of(fabric), value, NotifyOp::set, Order::relaxed);
    std::uint32_t seen = 0;
    while (seen < last) {
      if (!checks.ok(fabric.wait(signals[0], Compare::gt, seen, Order::relaxed), "the wait")) break;
      const std::uint32_t now = fabric.read(signals[0]);
      if (!checks.holds(now > seen && now <= last, "the cell only grows")) break;
      seen = now;
    }
    return checks.done();
  });
}

// test() never blocks and never says ok too early; a notify to the own rank has taken effect.
template <class Team>
Result<void> test_does_not_block(Team& team) {
  const Signals signals = *team.signals(2);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const auto test = [&](Compare compare, std::uint32_t value) {
      return fabric.test(signals[0], compare, value, Order::acquire, Scope::system);
    };
    checks.equal(fabric.read(signals[0]), 0, "a fresh signal");
    checks.equal(test(Compare::ge, 1), WaitStatus::pending, "test before the deposit");
    checks.equal(test(Compare::eq, 0), WaitStatus::ok, "test for zero");
    fabric.notify(signals[0], fabric.rank(), 1, NotifyOp::set);
    checks.equal(fabric.read(signals[0]), 1, "a cell after a notify to the own rank");
    checks.equal(test(Compare::ge, 1), WaitStatus::ok, "test after the deposit");
    fabric.notify(signals[0], fabric.rank(), ~0U, NotifyOp::add);
    checks.equal(test(Compare::ge, 1), WaitStatus::pending, "test after the deposit was undone");
    return checks.done();
  });
}

// wait_any blocks until one holds, and names the lowest of those that do.
template <class Team>
Result<void> wait_any_names_the_lowest(Team& team) {
  const Signals signals = *team.signals(5);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Condition three[] = {
        {signals[0], Compare::ge, 1}, {signals[1], Compare::ge, 1}, {signals[2], Compare::ge, 1}};
    const auto any = [&] { return fabric.wait_any(three, 3, Order::acquire, Scope::system); };

    fabric.notify(signals[2], right_of(fabric), 1, NotifyOp::set);
    const AnyStatus only = any();
    checks.ok(only.status, "wait_any for one");
    checks.equal(only.index, 2, "the index of the only one");

    fabric.notify(signals[3], left_of(fabric), 1, NotifyOp::set);  // the reader has seen it
    checks.ok(fabric.wait(signals[3], Compare::ge, 1), "the wait for the reader");
    fabric.notify(signals[1], right_of(fabric), 1, NotifyOp::set);
    fabric.notify(signals[4], right_of(fabric), 1, NotifyOp::set);  // both are there now
    checks.ok(fabric.wait(signals[4], Compare::ge, 1), "the wait for both");
    const AnyStatus both = any();
    checks.ok(both.status, "wait_any for both");
    checks.equal(both.index, 1, "the lowest index of both");
    return checks.done();
  });
}

// Counters start at zero, live between calls, and each lane has its own.
template <class Team>
Result<void> counters_persist(Team& team) {
  constexpr std::uint32_t lanes = 3;
  const Rows rows = *team.rows(lanes);
  const auto step = [&](std::uint32_t expected) {
    return team.lanes(lanes, [&rows, expected](auto& fabric) -> Result<void> {
      Checks checks;
      const Counter counter = rows.epoch(fabric.lane());
      const std::uint32_t shift = expected == 0 ? 0 : fabric.lane().value;
      checks.equal(fabric.counter(counter), expected + shift, "the counter");
      if (fabric.thread() == 0) fabric.set_counter(counter, expected + 100 + fabric.lane().value);
      fabric.converge();
      checks.equal(fabric.counter(counter), expected + 100 + fabric.lane().value, "after the set");
      return checks.done();
    });
  };
  for (const std::uint32_t expected : {0U, 100U, 200U})
    if (const Result<void> ran = step(expected); !ran) return ran;
  return {};
}

// Lane k talks to lane k, and lanes of one rank that wait for each other are there at once.
template <class Team>
Result<void> lanes_run_at_once(Team& team) {
  constexpr std::uint32_t lanes = 3;
  constexpr std::uint32_t rounds = 20;
  const Rows rows = *team.rows(lanes);
  const Signals ring = *team.signals(lanes);
  return team.lanes(lanes, [&](auto& fabric) -> Result<void> {
    Checks checks;
    checks.equal(fabric.lanes(), lanes, "lanes()");
    checks.holds(fabric.lane().value < lanes, "lane < lanes");
    const std::uint32_t next_lane = (fabric.lane().value + 1) % lanes;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      fabric.notify(ring[next_lane], fabric.rank(), round, NotifyOp::set);
      checks.ok(fabric.wait(ring[fabric.lane().value], Compare::ge, round), "the other lane");
      for_each_peer(fabric, [&](Rank peer) {
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, round, NotifyOp::set);
      });
      for_each_peer(fabric, [&](Rank peer) {
        checks.ok(fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, round), "the peer");
      });
      if (!checks.done()) break;
    }
    return checks.done();
  });
}

template <class Team>
Result<void> converge_and_broadcast(Team& team) {
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const std::uint32_t word = fabric.broadcast(fabric.rank().value + 17);
    checks.equal(word, fabric.rank().value + 17, "the word of thread 0");
    fabric.converge();
    checks.equal(fabric.converge(WaitStatus::ok), WaitStatus::ok, "converge(ok)");
    checks.equal(fabric.converge(WaitStatus::expired), WaitStatus::expired, "converge(expired)");
    checks.equal(fabric.converge(WaitStatus::ok), WaitStatus::ok, "converge after a failure");
    return checks.done();
  });
}

// for_each_peer visits every other rank once, the right neighbour first.
template <class Team>
Result<void> peers_in_order(Team& team) {
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    std::vector<std::uint32_t> seen;
    for_each_peer(fabric, [&](Rank peer) { seen.push_back(peer.value); });
    if (!checks.equal(seen.size(), fabric.size() - 1, "the number of peers")) return checks.done();
    for (std::uint32_t i = 0; i < seen.size(); ++i)
      checks.equal(seen[i], (fabric.rank().value + 1 + i) % fabric.size(), "a peer");
    return checks.done();
  });
}

// Freed signals are not confused with later ones: those are zero again.
template <class Team>
Result<void> signals_start_at_zero(Team& team) {
  Checks checks;
  for (int round = 0; round < 3; ++round) {
    auto signals = team.signals(8);
    if (!checks.ok(signals, "signals(8)")) break;
    const Signals cells = *signals;
    checks.equal(cells.count, 8, "their count");
    const Result<void> ran = team.lane([&](auto& fabric) -> Result<void> {
      Checks inner;
      for (std::uint32_t i = 0; i < 8; ++i) {
        inner.equal(fabric.read(cells[i]), 0, "a fresh signal");
        fabric.notify(cells[i], fabric.rank(), 77, NotifyOp::set);
      }
      return inner.done();
    });
    checks.ok(ran, "the lane");
    checks.ok(team.free(*signals), "free of the signals");
  }
  return checks.done();
}

// Data passes around a ring, many rounds, with the same values of the signals each time.
template <class Team>
Result<void> handoff_around_a_ring(Team& team) {
  const Handoff handoff(team);
  const auto inbox = *team.template window<std::uint32_t>({1});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank right = right_of(fabric), left = left_of(fabric);
    for (std::uint32_t round = 1; round <= 200; ++round) {
      if (!checks.ok(handoff.vacant(fabric), "vacant")) break;
      auto tile = fabric.template tile<std::uint32_t, 1, 1>();
      tile.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
        element = fabric.rank().value * 1000 + round;
      });
      fabric.remote_store(tile, inbox, right, Box{0, 0, 1, 1});
      handoff.post(fabric, right);
      if (!checks.ok(handoff.wait(fabric), "take")) break;
      checks.equal(fabric.local(inbox)[0], left.value * 1000 + round, "the left one's number");
      handoff.acknowledge(fabric, left);
    }
    checks.ok(handoff.vacant(fabric), "vacant at the end");
    checks.equal(fabric.read(handoff.busy()), 0, "busy at the end");
    checks.equal(fabric.read(handoff.filled()), 0, "filled at the end");
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> signal_cases() {
  return {
      {"Identity", identity<Team>, Sizes::all_and_64},
      {"NotifyAndWait", notify_and_wait<Team>, Sizes::all_and_64},
      {"AddsCommute", adds_commute<Team>, Sizes::all_and_64},
      {"DepositsKeepTheirOrder", deposits_keep_their_order<Team>, Sizes::all},
      {"TestDoesNotBlock", test_does_not_block<Team>, Sizes::few},
      {"WaitAnyNamesTheLowest", wait_any_names_the_lowest<Team>, Sizes::all},
      {"CountersPersist", counters_persist<Team>, Sizes::all},
      {"LanesRunAtOnce", lanes_run_at_once<Team>, Sizes::all},
      {"ConvergeAndBroadcast", converge_and_broadcast<Team>, Sizes::few},
      {"PeersInOrder", peers_in_order<Team>, Sizes::all_and_64},
      {"SignalsStartAtZero", signals_start_at_zero<Team>, Sizes::all},
      {"HandoffAroundARing", handoff_around_a_ring<Team>, Sizes::all},
  };
}

}  // namespace muster::conformance
