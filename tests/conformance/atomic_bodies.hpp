// Fetched operations: fetch_add, exchange and compare_swap, alone and beside adds.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"

namespace muster::conformance {

// Each returns what was there, and leaves what it says: on a neighbour's cell that nobody else
// touches, and on the own rank's.
template <class Team>
Result<void> fetched_values(Team& team) {
  const Signals signals = *team.signals(2);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const auto found = [&](Fetched fetched, std::uint32_t value, const char* what) {
      return checks.ok(fetched.status, what) && checks.equal(fetched.value, value, what);
    };
    const Rank places[] = {right_of(fabric), fabric.rank()};
    for (std::uint32_t i = 0; i < 2; ++i) {
      const Signal cell = signals[i];
      const Rank at = places[i];
      for (const Order order : {Order::relaxed, Order::acquire, Order::release, Order::acq_rel}) {
        found(fabric.fetch_add(cell, at, 5, order), 0, "fetch_add at 0");
        found(fabric.fetch_add(cell, at, ~0U, order), 5, "fetch_add of -1 at 5");
        found(fabric.fetch_add(cell, at, 0, order), 4, "fetch_add of 0 at 4");
        found(fabric.exchange(cell, at, 0xffffffffU, order), 4, "exchange at 4");
        found(fabric.fetch_add(cell, at, 3, order), 0xffffffffU, "fetch_add that wraps");
        found(fabric.compare_swap(cell, at, 3, 9, order), 2, "compare_swap of 3 at 2");
        found(fabric.compare_swap(cell, at, 2, 9, order), 2, "compare_swap of 2 at 2");
        found(fabric.compare_swap(cell, at, 9, 9, order), 9, "compare_swap of 9 by 9");
        found(fabric.exchange(cell, at, 0, order), 9, "exchange at 9");
      }
    }
    found(fabric.fetch_add(signals[0], right_of(fabric), 7), 0, "the default order");
    checks.ok(fabric.wait(signals[0], Compare::eq, 7), "the wait for the left one's last");
    return checks.done();
  });
}

// Tickets: every number is given once, and to each rank in growing order.
template <class Team>
Result<void> tickets_are_given_once(Team& team) {
  constexpr std::uint32_t each = 20;
  const Signals next = *team.signals(1);
  const auto given = *team.template window<std::uint32_t>({team.size() * each});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank home{0};
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < each; ++i) {
      const Fetched ticket = fabric.fetch_add(next[0], home, 1, Order::relaxed);
      if (!checks.ok(ticket.status, "fetch_add")) return checks.done();
      if (!checks.holds(ticket.value < fabric.size() * each, "a ticket in range")) break;
      checks.holds(i == 0 || ticket.value > last, "tickets grow");
      last = ticket.value;
      auto one = fabric.template tile<std::uint32_t, 1, 1>();
      one.each([&](std::int64_t, std::int64_t, std::uint32_t& element) { element = 1; });
      fabric.remote_add(one, given, home, Box{0, ticket.value, 1, 1});
    }
    checks.ok(barrier.sync(fabric), "the barrier");
    if (fabric.rank() == home)
      for (std::int64_t at = 0; at < given.size(); ++at)
        checks.equal(std::uint32_t{fabric.local(given)[at]}, 1, "how often a ticket was given");
    return checks.done();
  });
}

// Fetched operations and adds on one cell lose nothing of each other, and wake who waits.
template <class Team>
Result<void> fetched_beside_adds(Team& team) {
  constexpr std::uint32_t each = 60;
  const Signals sum = *team.signals(1);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank home{0};
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < each; ++i) {
      if (i % 3 == 0) {
        fabric.notify(sum[0], home, 1, NotifyOp::add);
      } else if (i % 3 == 1) {
        const Fetched fetched = fabric.fetch_add(sum[0], home, 1);
        checks.holds(fetched.status == WaitStatus::ok && fetched.value >= seen, "the sum grows");
        seen = fetched.value + 1;
      } else {
        for (Fetched fetched{}; fetched.status == WaitStatus::ok;) {
          fetched = fabric.compare_swap(sum[0], home, seen, seen + 1);
          if (fetched.value == seen) break;
          seen = fetched.value;
        }
        ++seen;
      }
    }
    if (fabric.rank() == home) {
      checks.ok(fabric.wait(sum[0], Compare::ge, each * fabric.size()), "the wait for the sum");
      checks.equal(fabric.read(sum[0]), each * fabric.size(), "the sum");
    }
    return checks.done();
  });
}

// A lock by exchange and by compare_swap in turn: what one holder left, the next one finds.
template <class Team>
Result<void> lock_excludes(Team& team) {
  constexpr std::uint32_t each = 10;
  const Signals lock = *team.signals(1);
  const auto shared = *team.template window<std::uint32_t>({2});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank home{0};
    const Box all{0, 0, 1, 2};
    for (std::uint32_t i = 0; i < each; ++i) {
      Fetched found{WaitStatus::ok, 1};
      while (found.status == WaitStatus::ok && found.value != 0)
        found = i % 2 == 0 ? fabric.exchange(lock[0], home, 1, Order::acquire)
                           : fabric.compare_swap(lock[0], home, 0, 1, Order::acquire);
      if (!checks.ok(found.status, "the lock")) break;
      auto both = fabric.template tile<std::uint32_t, 1, 2>();
      checks.ok(fabric.remote_load(both, shared, home, all), "the load");
      std::uint32_t value = 0;
      both.each([&](std::int64_t, std::int64_t col, std::uint32_t& element) {
        if (col == 0) value = element;
        checks.equal(element, value, "the second of two equal numbers");
        ++element;
      });
      fabric.remote_store(both, shared, home, all);
      checks.equal(fabric.exchange(lock[0], home, 0, Order::release).value, 1, "the lock held");
    }
    checks.ok(barrier.sync(fabric), "the barrier");
    if (fabric.rank() == home)
      checks.equal(std::uint32_t{fabric.local(shared)[0]}, each * fabric.size(), "the number");
    return checks.done();
  });
}

// "The last one of us": it has acquired what all others released into the cell before it.
template <class Team>
Result<void> last_one_sees_all(Team& team) {
  constexpr std::uint32_t rounds = 10;
  const Signals arrived = *team.signals(rounds);
  const auto numbers = *team.template window<std::uint32_t>({rounds, team.size()});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank home{0};
    for (std::uint32_t round = 0; round < rounds; ++round) {
      auto one = fabric.template tile<std::uint32_t, 1, 1>();
      one.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
        element = 100 * round + fabric.rank().value + 1;
      });
      fabric.remote_store(one, numbers, home, Box{round, fabric.rank().value, 1, 1});
      const Fetched before = fabric.fetch_add(arrived[round], home, 1, Order::acq_rel);
      checks.ok(before.status, "fetch_add");
      if (before.value + 1 != fabric.size()) continue;
      // Of the others: the own one may be on its way still.
      for_each_peer(fabric, [&](Rank peer) {
        const Box place{round, peer.value, 1, 1};
        checks.ok(fabric.remote_load(one, numbers, home, place), "the load");
        one.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
          checks.equal(element, 100 * round + peer.value + 1, "a rank's number");
        });
      });
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> atomic_cases() {
  return {
      {"FetchedValues", fetched_values<Team>, Sizes::all},
      {"TicketsAreGivenOnce", tickets_are_given_once<Team>, Sizes::all},
      {"FetchedBesideAdds", fetched_beside_adds<Team>, Sizes::all},
      {"LockExcludes", lock_excludes<Team>, Sizes::all},
      {"LastOneSeesAll", last_one_sees_all<Team>, Sizes::all},
  };
}

}  // namespace muster::conformance
