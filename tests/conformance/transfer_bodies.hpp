// Windows and bulk transfers: zero at first, and what a deposit carries has arrived when it is
// seen.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"

namespace muster::conformance {

// Windows are zero before any peer can reach them, also those that reuse freed memory.
template <class Team>
Result<void> windows_start_at_zero(Team& team) {
  Checks checks;
  for (int round = 0; round < 3; ++round) {
    auto bytes = team.template window<std::uint8_t>({3, 41});
    auto doubles = team.template window<double>({2, 3, 7});
    checks.ok(bytes, "a window of bytes");
    if (!checks.ok(doubles, "a window of doubles")) break;
    checks.equal(bytes->size(), 123, "the elements of {3, 41}");
    checks.equal(doubles->rows, 6, "the rows of {2, 3, 7}");
    checks.equal(doubles->cols, 7, "the columns of {2, 3, 7}");
    const Result<void> ran = team.lane([&](auto& fabric) -> Result<void> {
      Checks inner;
      auto small = fabric.local(*bytes);
      auto large = fabric.local(*doubles);
      inner.equal(static_cast<std::int64_t>(small.size()), 123, "the view's size");
      for (std::int64_t i = 0; i < 123; ++i) {
        inner.equal<std::uint8_t>(small[i], 0, "a fresh byte");
        small[i] = 0xab;
      }
      for (std::int64_t i = 0; i < 42; ++i) {
        inner.equal<double>(large[i], 0.0, "a fresh double");
        large[i] = 3.5;
      }
      return inner.done();
    });
    checks.ok(ran, "the lane");
    checks.ok(team.free(*bytes), "free of the bytes");
    checks.ok(team.free(*doubles), "free of the doubles");
  }
  return checks.done();
}

// An allocation can be looked at through windows of several types; they name the same bytes.
template <class Team>
Result<void> windows_on_an_allocation(Team& team) {
  auto allocation = *team.allocate(64);
  const auto words = *team.template window<std::uint32_t>(allocation, {4, 4});
  const auto bytes = *team.template window<std::uint8_t>(allocation, {64});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    fabric.local(words)[3] = 0x01010101U * (fabric.rank().value + 1);
    for (std::int64_t i = 0; i < 64; ++i)
      checks.equal<std::uint8_t>(
          fabric.local(bytes)[i],
          static_cast<std::uint8_t>(i / 4 == 3 ? fabric.rank().value + 1 : 0), "a byte");
    return checks.done();
  });
}

[[nodiscard]] constexpr std::int32_t element_of(std::uint32_t rank, std::uint32_t round,
                                                std::int64_t index) {
  return static_cast<std::int32_t>(rank * 100000 + round * 1000) + static_cast<std::int32_t>(index);
}

inline constexpr std::int64_t message = 37;  // elements
inline constexpr std::uint32_t message_rounds = 12;

// A ring: each rank hands its right neighbour a message each round, and goes on when the neighbour
// has read it. `send(fabric, round)` must end in a deposit of `round` into sent; `receive` makes
// the message visible in the inbox.
template <class F, class Send, class Receive>
Result<void> pass_messages(F& fabric, Signals signals, WindowRef<std::int32_t> outbox,
                           WindowRef<std::int32_t> inbox, Send send, Receive receive) {
  Checks checks;
  for (std::uint32_t round = 1; round <= message_rounds; ++round) {
    for (std::int64_t i = 0; i < message; ++i)
      fabric.local(outbox)[i] = element_of(fabric.rank().value, round, i);
    send(round);
    checks.ok(fabric.wait(signals[0], Compare::ge, round), "the wait for the message");
    receive(round);
    for (std::int64_t i = 0; i < message; ++i)
      checks.equal<std::int32_t>(fabric.local(inbox)[i],
                                 element_of(left_of(fabric).value, round, i), "an element");
    fabric.notify(signals[1], left_of(fabric), round, NotifyOp::set);
    checks.ok(fabric.wait(signals[1], Compare::ge, round), "the wait for the reader");
    if (!checks.done()) break;
  }
  return checks.done();
}

template <class Team, class Body>
Result<void> with_mailboxes(Team& team, Body body) {
  const Signals signals = *team.signals(2);
  const auto outbox = *team.template window<std::int32_t>({message});
  const auto inbox = *team.template window<std::int32_t>({message});
  return team.lane([&](auto& fabric) { return body(fabric, signals, outbox, inbox); });
}

// Stores into the own window are carried by the release notify; the peer gets them.
template <class Team>
Result<void> store_notify_get(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    return pass_messages(
        fabric, signals, outbox, inbox,
        [&](std::uint32_t round) {
          fabric.notify(signals[0], right_of(fabric), round, NotifyOp::set);
        },
        [&](std::uint32_t) { (void)fabric.get(inbox, 0, outbox, left_of(fabric), 0, message); });
  });
}

// A put is carried by the release notify to the same peer, and its source is reusable on return.
template <class Team>
Result<void> put_notify(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    return pass_messages(
        fabric, signals, outbox, inbox,
        [&](std::uint32_t round) {
          fabric.put(inbox, right_of(fabric), 0, outbox, 0, message);
          for (std::int64_t i = 0; i < message; ++i) fabric.local(outbox)[i] = -1;
          fabric.notify(signals[0], right_of(fabric), round, NotifyOp::set);
        },
        [](std::uint32_t) {});
  });
}

// put_signal carries its own payload, by set and by add.
template <class Team, NotifyOp op>
Result<void> put_signal(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    return pass_messages(
        fabric, signals, outbox, inbox,
        [&](std::uint32_t round) {
          fabric.put_signal(inbox, right_of(fabric), 0, outbox, 0, message, signals[0],
                            op == NotifyOp::set ? round : 1, op);
        },
        [](std::uint32_t) {});
  });
}

// Asynchronous puts and gets, in pieces, are complete at the flush.
template <class Team>
Result<void> async_put_flush(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    return pass_messages(
        fabric, signals, outbox, inbox,
        [&](std::uint32_t round) {
          for (std::int64_t at = 0; at < message; at += 10)
            fabric.put_async(inbox, right_of(fabric), at, outbox, at,
                             message - at < 10 ? message - at : 10);
          (void)fabric.flush();
          for (std::int64_t i = 0; i < message; ++i) fabric.local(outbox)[i] = -1;
          fabric.notify(signals[0], right_of(fabric), round, NotifyOp::set);
        },
        [](std::uint32_t) {});
  });
}

template <class Team>
Result<void> async_get_flush(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    return pass_messages(
        fabric, signals, outbox, inbox,
        [&](std::uint32_t round) {
          fabric.notify(signals[0], right_of(fabric), round, NotifyOp::set);
        },
        [&](std::uint32_t) {
          for (std::int64_t at = 0; at < message; at += 10)
            fabric.get_async(inbox, at, outbox, left_of(fabric), at,
                             message - at < 10 ? message - at : 10);
          (void)fabric.flush();
        });
  });
}

// A pipeline: the next piece is asked for before the one before is complete. Then the same the
// other way, where a complete put leaves its source to its owner.
template <class Team>
Result<void> async_in_turn(Team& team) {
  constexpr std::int64_t piece = 10;
  const auto own = *team.template window<std::int32_t>({message});
  const auto copy = *team.template window<std::int32_t>({message});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    using Request = typename std::remove_reference_t<decltype(fabric)>::Request;
    Checks checks;
    const auto value = [](Rank rank, std::int64_t i) {
      return static_cast<std::int32_t>(rank.value * 1000 + static_cast<std::uint32_t>(i));
    };
    const auto length = [](std::int64_t at) { return message - at < piece ? message - at : piece; };
    for (std::int64_t i = 0; i < message; ++i) fabric.local(own)[i] = value(fabric.rank(), i);
    checks.ok(fabric.complete(Request{}), "complete of nothing");
    checks.ok(barrier.sync(fabric), "the barrier before");
    const Rank right = right_of(fabric);
    Request before{};
    for (std::int64_t at = 0; at < message + piece; at += piece) {
      Request now{};
      if (at < message) now = fabric.get_async(copy, at, own, right, at, length(at));
      fabric.progress();
      checks.ok(fabric.complete(before), "complete");
      for (std::int64_t i = at - piece; i >= 0 && i < at && i < message; ++i)
        checks.equal<std::int32_t>(fabric.local(copy)[i], value(right, i), "an element");
      before = now;
    }
    checks.ok(barrier.sync(fabric), "all have read");
    for (std::int64_t at = 0; at < message; at += piece) {
      before = fabric.put_async(copy, right, at, own, at, length(at));
      checks.ok(fabric.complete(before), "complete of a put");
      for (std::int64_t i = at; i < at + length(at); ++i) fabric.local(own)[i] = -1;
    }
    checks.ok(fabric.flush(right), "the flush to a peer");
    checks.ok(barrier.sync(fabric), "the barrier after");
    for (std::int64_t i = 0; i < message; ++i)
      checks.equal<std::int32_t>(fabric.local(copy)[i], value(left_of(fabric), i), "what was put");
    checks.ok(fabric.converge(WaitStatus::ok), "converge");
    checks.ok(fabric.status(), "the lane's status");
    return checks.done();
  });
}

// Stores through address() are stores addressed to that peer: the release notify carries them.
template <class Team>
Result<void> direct_stores(Team& team) {
  return with_mailboxes(team, [](auto& fabric, Signals signals, auto outbox, auto inbox) {
    using F = std::remove_reference_t<decltype(fabric)>;
    if constexpr (DirectFabric<F>) {
      return pass_messages(
          fabric, signals, outbox, inbox,
          [&](std::uint32_t round) {
            for (std::int64_t i = 0; i < message; ++i)
              fabric.address(inbox, right_of(fabric))[i] = fabric.local(outbox)[i];
            fabric.notify(signals[0], right_of(fabric), round, NotifyOp::set);
          },
          [](std::uint32_t) {});
    } else {
      return Result<void>();  // this fabric reaches no peer's memory by load and store
    }
  });
}

// What a lane has itself acquired is carried on: the last rank sees what rank 0 stored.
template <class Team>
Result<void> acquired_is_carried_on(Team& team) {
  const Signals signals = *team.signals(1);
  const auto source = *team.template window<std::int32_t>({1});
  const auto copy = *team.template window<std::int32_t>({1});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    if (fabric.rank() == Rank{0}) {
      fabric.local(source)[0] = 4711;
    } else {
      checks.ok(fabric.wait(signals[0], Compare::ge, 1), "the wait for the left neighbour");
      (void)fabric.get(copy, 0, source, Rank{0}, 0, 1);
      checks.equal<std::int32_t>(fabric.local(copy)[0], 4711, "what rank 0 stored");
    }
    if (right_of(fabric).value != 0) fabric.notify(signals[0], right_of(fabric), 1, NotifyOp::set);
    return checks.done();
  });
}

// Contract 1: a transfer to a third rank is carried after a flush. Rank 0 puts to the last rank,
// and the news goes through all ranks between them.
template <class Team>
Result<void> flush_reaches_a_third_rank(Team& team) {
  const Signals signals = *team.signals(1);
  const auto source = *team.template window<std::int32_t>({message});
  const auto target = *team.template window<std::int32_t>({message});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    const Rank last{fabric.size() - 1};
    if (fabric.rank() == Rank{0}) {
      for (std::int64_t i = 0; i < message; ++i) fabric.local(source)[i] = element_of(0, 1, i);
      fabric.put(target, last, 0, source, 0, message);
      (void)fabric.flush();
    } else {
      checks.ok(fabric.wait(signals[0], Compare::ge, 1), "the wait for the left neighbour");
    }
    if (fabric.rank() != last) fabric.notify(signals[0], right_of(fabric), 1, NotifyOp::set);
    if (fabric.rank() == last)
      for (std::int64_t i = 0; i < message; ++i)
        checks.equal<std::int32_t>(fabric.local(target)[i], element_of(0, 1, i), "an element");
    return checks.done();
  });
}

// Offsets and counts are elements; what lies beside the run stays as it was; a count of 0 moves
// nothing; the own rank is a peer like any other.
template <class Team>
Result<void> runs_of_any_length(Team& team) {
  constexpr std::int64_t size = 24;
  const auto source = *team.template window<std::int16_t>({size});
  const auto target = *team.template window<std::int16_t>({size});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::int64_t i = 0; i < size; ++i)
      fabric.local(source)[i] = static_cast<std::int16_t>(100 + i);
    for (const bool put : {true, false}) {
      for (std::int64_t count = 0; count <= 9; ++count) {
        const std::int64_t from = 2 * count % 7;
        const std::int64_t to = count + 3;
        for (std::int64_t i = 0; i < size; ++i) fabric.local(target)[i] = -7;
        checks.ok(barrier.sync(fabric), "the barrier before");
        if (put)
          fabric.put(target, right_of(fabric), to, source, from, count);
        else
          checks.ok(fabric.get(target, to, source, right_of(fabric), from, count), "get");
        checks.ok(barrier.sync(fabric), "the barrier after");
        for (std::int64_t i = 0; i < size; ++i) {
          const bool moved = i >= to && i < to + count;
          const auto expected = static_cast<std::int16_t>(moved ? 100 + from + i - to : -7);
          checks.equal<std::int16_t>(fabric.local(target)[i], expected, "an element");
        }
        if (!checks.done()) return checks.done();
      }
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> transfer_cases() {
  return {
      {"WindowsStartAtZero", windows_start_at_zero<Team>, Sizes::all_and_64},
      {"WindowsOnAnAllocation", windows_on_an_allocation<Team>, Sizes::few},
      {"StoreNotifyGet", store_notify_get<Team>, Sizes::all},
      {"PutNotify", put_notify<Team>, Sizes::all_and_64},
      {"PutSignalSet", put_signal<Team, NotifyOp::set>, Sizes::all},
      {"PutSignalAdd", put_signal<Team, NotifyOp::add>, Sizes::all},
      {"AsyncPutFlush", async_put_flush<Team>, Sizes::all},
      {"AsyncGetFlush", async_get_flush<Team>, Sizes::all},
      {"AsyncInTurn", async_in_turn<Team>, Sizes::all},
      {"DirectStores", direct_stores<Team>, Sizes::all},
      {"AcquiredIsCarriedOn", acquired_is_carried_on<Team>, Sizes::all},
      {"FlushReachesAThirdRank", flush_reaches_a_third_rank<Team>, Sizes::all},
      {"RunsOfAnyLength", runs_of_any_length<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
