// Barriers: all kinds, all uses, alternating, delayed, near the wrap of their epochs, on several
// lanes; with data that is checked each round.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases.hpp"
#include "conformance/delay.hpp"
#include "muster/barrier.hpp"

namespace muster::conformance {

[[nodiscard]] constexpr std::uint32_t stamp(std::uint32_t round, Lane lane, Rank writer) {
  return round * 4096 + lane.value * 256 + writer.value + 1;
}

// One round: every rank puts its stamp into its column of every rank's row, all meet by `first`,
// and each finds the stamps of all; then all meet by `second`, so that the next round may overwrite
// them.
template <class F, class First, class Second>
void exchange_round(F& fabric, Checks& checks, WindowRef<std::uint32_t> inbox,
                    WindowRef<std::uint32_t> outbox, std::uint32_t round, First first,
                    Second second) {
  const std::int64_t row = inbox.at(fabric.lane().value, 0);
  const std::int64_t out = fabric.lane().value;
  fabric.local(outbox)[out] = stamp(round, fabric.lane(), fabric.rank());
  for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
    fabric.put(inbox, Rank{peer}, row + fabric.rank().value, outbox, out, 1);
  checks.ok(first(), "the barrier after the puts");
  for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
    checks.equal<std::uint32_t>(fabric.local(inbox)[row + writer],
                                stamp(round, fabric.lane(), Rank{writer}), "a stamp");
  checks.ok(second(), "the barrier after the reads");
}

struct Exchange {
  WindowRef<std::uint32_t> inbox;   // a row of P stamps for each lane
  WindowRef<std::uint32_t> outbox;  // one stamp for each lane
};

template <class Team>
Exchange make_exchange(Team& team, std::int64_t lanes) {
  return {*team.template window<std::uint32_t>({lanes, static_cast<std::int64_t>(team.size())}),
          *team.template window<std::uint32_t>({lanes})};
}

// sync, and arrive with wait apart, with data; the buffers are free again by the use `exit`.
template <class Team, class Barrier, std::uint32_t lanes>
Result<void> data_each_round(Team& team) {
  const Exchange windows = make_exchange(team, lanes);
  const Barrier barrier(team);
  const Barrier tail(team);  // one barrier keeps to one order of notify
  const std::uint32_t rounds = team.size() > 16 ? 4 : 30;
  return team.lanes(lanes, [&, rounds](auto& fabric) -> Result<void> {
    Checks checks;
    Random random = random_of(fabric);
    for (std::uint32_t round = 1; round <= rounds && checks.done(); ++round) {
      random_delay(random);
      const auto sync = [&] { return barrier.sync(fabric); };
      const auto split = [&] {
        const auto arrival = barrier.arrive(fabric);
        random_delay(random);
        return barrier.wait(fabric, arrival);
      };
      const auto leave = [&] { return tail.sync(fabric, use::exit); };
      if (round % 2 == 0)
        exchange_round(fabric, checks, windows.inbox, windows.outbox, round, sync, leave);
      else
        exchange_round(fabric, checks, windows.inbox, windows.outbox, round, split, leave);
    }
    return checks.done();
  });
}

// `entry`: what an earlier launch wrote is visible, though the notify is relaxed (the end of a
// launch releases). `rendezvous`: the ranks meet.
template <class Team, class Barrier>
Result<void> entry_and_rendezvous(Team& team) {
  const Exchange windows = make_exchange(team, 1);
  const Barrier barrier(team);
  for (std::uint32_t round = 1; round <= 6; ++round) {
    const Result<void> wrote = team.lane([&](auto& fabric) {
      fabric.local(windows.outbox)[0] = stamp(round, fabric.lane(), fabric.rank());
      for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
        fabric.put(windows.inbox, Rank{peer}, fabric.rank().value, windows.outbox, 0, 1);
      (void)fabric.flush();
      return WaitStatus::ok;
    });
    if (!wrote) return wrote;
    const Result<void> read = team.lane([&](auto& fabric) -> Result<void> {
      Checks checks;
      checks.ok(barrier.sync(fabric, use::entry), "the barrier at the entry");
      for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
        checks.equal<std::uint32_t>(fabric.local(windows.inbox)[writer],
                                    stamp(round, fabric.lane(), Rank{writer}), "a stamp");
      checks.ok(barrier.sync(fabric, use::rendezvous), "the meeting");
      checks.ok(barrier.sync(fabric, use::exit), "the barrier at the exit");
      return checks.done();
    });
    if (!read) return read;
  }
  return {};
}

// No rank passes before all have arrived: the last to come is another one each round, and has
// deposited (by itself, released before) what all find afterwards.
template <class Team, class Barrier>
Result<void> nobody_passes_early(Team& team) {
  const Signals late = *team.signals(1);
  const Barrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const std::uint32_t rounds = 2 * fabric.size() < 20 ? 2 * fabric.size() : 20;
    for (std::uint32_t round = 1; round <= rounds && checks.done(); ++round) {
      if (round % fabric.size() == fabric.rank().value) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
          fabric.notify(late[0], Rank{peer}, round, NotifyOp::set);
      }
      checks.ok(barrier.sync(fabric), "the barrier");
      checks.equal(fabric.read(late[0]), round, "the late rank's deposit");
      checks.ok(barrier.sync(fabric), "the second barrier");
    }
    return checks.done();
  });
}

// All kinds in one loop, in an order that all ranks draw alike.
template <class Team, std::uint32_t lanes>
Result<void> kinds_alternate(Team& team) {
  const Exchange windows = make_exchange(team, lanes);
  const EpochBarrier epoch(team);
  const CreditBarrier credit(team);
  const FlipBarrier flip(team);
  const CounterBarrier counter(team);
  const EpochBarrier other_epoch(team);
  const std::uint32_t rounds = team.size() > 16 ? 6 : 40;
  return team.lanes(lanes, [&, rounds](auto& fabric) -> Result<void> {
    Checks checks;
    Random delays = random_of(fabric);
    Random shared(fabric.lane().value + 5);  // the same on every rank
    const auto any = [&] {
      random_delay(delays);
      switch (shared() % 5) {
        case 0: return epoch.sync(fabric);
        case 1: return credit.sync(fabric);
        case 2: return flip.sync(fabric);
        case 3: return counter.sync(fabric);
        default: return other_epoch.sync(fabric);
      }
    };
    for (std::uint32_t round = 1; round <= rounds && checks.done(); ++round)
      exchange_round(fabric, checks, windows.inbox, windows.outbox, round, any, any);
    return checks.done();
  });
}

inline constexpr std::uint32_t near_wrap = 0xfffffff0U;

// Moves a barrier's cells and counters to where the next calls wrap. One barrier before the move,
// so that all have left earlier calls, and one after, so that nobody meets the old values.
template <class Team, class Barrier, class Set>
Result<void> through_the_wrap(Team& team, Set set) {
  const Exchange windows = make_exchange(team, 1);
  const Barrier barrier(team);
  const FlipBarrier other(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    set(fabric, barrier.rows());
    checks.ok(other.sync(fabric), "the other barrier");
    for (std::uint32_t round = 1; round <= 40 && checks.done(); ++round) {
      const auto sync = [&] { return barrier.sync(fabric); };
      exchange_round(fabric, checks, windows.inbox, windows.outbox, round, sync, sync);
    }
    const Counter counter = barrier.rows().epoch(fabric.lane());
    if (fabric.size() > 1)
      checks.holds(fabric.counter(counter) < near_wrap, "the counter has passed the wrap");
    return checks.done();
  });
}

template <class Team>
Result<void> epochs_wrap(Team& team) {
  return through_the_wrap<Team, EpochBarrier>(team, [](auto& fabric, Rows rows) {
    fabric.set_counter(rows.epoch(fabric.lane()), near_wrap);
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, near_wrap, NotifyOp::set);
    });
  });
}

template <class Team>
Result<void> sums_wrap(Team& team) {
  return through_the_wrap<Team, CounterBarrier>(team, [](auto& fabric, Rows rows) {
    fabric.set_counter(rows.epoch(fabric.lane()), near_wrap);
    fabric.notify(rows.from(fabric.lane(), Rank{0}), fabric.rank(), near_wrap, NotifyOp::set);
  });
}

// CreditBarrier and FlipBarrier leave every cell zero.
template <class Team, class Barrier>
Result<void> cells_return_to_zero(Team& team) {
  const Barrier barrier(team);
  const EpochBarrier quiet(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (int round = 0; round < 5; ++round) checks.ok(barrier.sync(fabric), "the barrier");
    checks.ok(quiet.sync(fabric), "the other barrier");  // nobody is still inside a call
    for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
      checks.equal(fabric.read(barrier.rows().from(fabric.lane(), Rank{writer})), 0, "a cell");
    return checks.done();
  });
}

// A pad of 32 channels in the layout of PyTorch's: barriers on channels of their own, in lanes of
// their own, beside code that knows nothing of muster's and takes turns with one of them on its
// channel. All cells are zero afterwards, on all channels.
template <class Team>
Result<void> flip_on_channels(Team& team) {
  constexpr std::uint32_t channels = 32;
  constexpr std::uint32_t shared = 3;
  const Exchange windows = make_exchange(team, 3);
  const Signals pad = *team.signals(channels * team.size());
  const Rows rows = pad_rows(pad, team.size());
  const FlipBarrier last(rows, PadChannel{channels - 3}, 3);
  const FlipBarrier one(rows, PadChannel{shared});
  const EpochBarrier quiet(team);
  return team.lanes(3, [&](auto& fabric) -> Result<void> {
    Checks checks;
    const auto by_hand = [&] {  // cell = channel * ranks + writer
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        const Signal mine = pad[shared * fabric.size() + fabric.rank().value];
        status = worst(status, fabric.hand(mine, peer, Order::release));
      });
      for_each_peer(fabric, [&](Rank peer) {
        const Signal theirs = pad[shared * fabric.size() + peer.value];
        status = worst(status, fabric.take(theirs, Order::acquire));
      });
      return fabric.converge(status);
    };
    Random random = random_of(fabric);
    const std::uint32_t rounds = team.size() > 8 ? 4 : 20;
    for (std::uint32_t round = 1; round <= rounds && checks.done(); ++round) {
      random_delay(random);
      const auto all = [&] { return last.sync(fabric); };
      if (fabric.lane() == Lane{0})
        exchange_round(
            fabric, checks, windows.inbox, windows.outbox, round, [&] { return one.sync(fabric); },
            by_hand);
      else
        exchange_round(fabric, checks, windows.inbox, windows.outbox, round, all, all);
    }
    checks.ok(quiet.sync(fabric), "the other barrier");  // nobody is still inside a call
    if (fabric.lane() == Lane{0})
      for (std::uint32_t cell = 0; cell < (channels - 3) * fabric.size(); ++cell)
        checks.equal(fabric.read(pad[cell]), 0, "a cell of the pad");
    return checks.done();
  });
}

// The team's own barrier, outside lanes, between lanes that write and lanes that read.
template <class Team>
Result<void> team_sync_orders_lanes(Team& team) {
  const Exchange windows = make_exchange(team, 1);
  for (std::uint32_t round = 1; round <= 10; ++round) {
    const Result<void> wrote = team.lane([&](auto& fabric) {
      fabric.local(windows.outbox)[0] = stamp(round, fabric.lane(), fabric.rank());
      for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
        fabric.put(windows.inbox, Rank{peer}, fabric.rank().value, windows.outbox, 0, 1);
    });
    if (!wrote) return wrote;
    if (const Result<void> met = team.sync(); !met) return met;
    const Result<void> read = team.lane([&](auto& fabric) -> Result<void> {
      Checks checks;
      for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
        checks.equal<std::uint32_t>(fabric.local(windows.inbox)[writer],
                                    stamp(round, fabric.lane(), Rank{writer}), "a stamp");
      return checks.done();
    });
    if (!read) return read;
    if (const Result<void> met = team.sync(); !met) return met;
  }
  return {};
}

template <class Team, class Barrier>
void add_barrier_cases(std::vector<Case<Team>>& cases, const char* data, const char* lanes,
                       const char* uses, const char* early) {
  cases.push_back({data, data_each_round<Team, Barrier, 1>, Sizes::all_and_64});
  cases.push_back({lanes, data_each_round<Team, Barrier, 3>, Sizes::all});
  cases.push_back({uses, entry_and_rendezvous<Team, Barrier>, Sizes::all});
  cases.push_back({early, nobody_passes_early<Team, Barrier>, Sizes::all});
}

template <class Team>
std::vector<Case<Team>> barrier_cases() {
  std::vector<Case<Team>> cases{
      {"KindsAlternate", kinds_alternate<Team, 1>, Sizes::all_and_64},
      {"KindsAlternateOnThreeLanes", kinds_alternate<Team, 3>, Sizes::all},
      {"EpochsWrap", epochs_wrap<Team>, Sizes::all},
      {"SumsWrap", sums_wrap<Team>, Sizes::all},
      {"CreditCellsReturnToZero", cells_return_to_zero<Team, CreditBarrier>, Sizes::all},
      {"FlipCellsReturnToZero", cells_return_to_zero<Team, FlipBarrier>, Sizes::all},
      {"FlipOnChannels", flip_on_channels<Team>, Sizes::all},
      {"TeamSyncOrdersLanes", team_sync_orders_lanes<Team>, Sizes::all_and_64},
  };
  add_barrier_cases<Team, EpochBarrier>(cases, "EpochData", "EpochDataOnThreeLanes", "EpochUses",
                                        "EpochNobodyPassesEarly");
  add_barrier_cases<Team, CreditBarrier>(cases, "CreditData", "CreditDataOnThreeLanes",
                                         "CreditUses", "CreditNobodyPassesEarly");
  add_barrier_cases<Team, FlipBarrier>(cases, "FlipData", "FlipDataOnThreeLanes", "FlipUses",
                                       "FlipNobodyPassesEarly");
  add_barrier_cases<Team, CounterBarrier>(cases, "CounterData", "CounterDataOnThreeLanes",
                                          "CounterUses", "CounterNobodyPassesEarly");
  return cases;
}

}  // namespace muster::conformance
