// Packets: tiles of all types between all ranks, call after call, also past the point where the
// count of calls comes round.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases.hpp"
#include "conformance/delay.hpp"
#include "muster/half.hpp"
#include "muster/packet.hpp"

namespace muster::conformance {

// Different for neighbours, ranks, calls and lanes, and exact in every type.
template <class T>
[[nodiscard]] T packet_value(Rank rank, Lane lane, std::uint32_t call, std::int64_t index) {
  const auto value =
      (rank.value * 7 + lane.value * 3 + call * 13 + static_cast<std::uint32_t>(index)) % 101;
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T(static_cast<float>(value));
}

// `first`: the count of calls so far, as if there had been so many.
template <class Team, class T, std::int64_t R, std::int64_t C, std::uint32_t lanes,
          std::uint32_t first>
Result<void> packets_arrive(Team& team) {
  const PacketExchange<T, R, C> exchange(team);
  const std::uint32_t calls = team.size() > 8 ? 8 : 40;
  return team.lanes(lanes, [&, calls](auto& fabric) -> Result<void> {
    Checks checks;
    Random random = random_of(fabric);
    auto mine = fabric.template tile<T, R, C>();
    auto theirs = fabric.template tile<T, R, C>();
    fabric.set_counter(exchange.counts().epoch(fabric.lane()), first);
    for (std::uint32_t call = 0; call < calls && checks.done(); ++call) {
      random_delay(random);
      mine.each([&](std::int64_t row, std::int64_t col, T& element) {
        element = packet_value<T>(fabric.rank(), fabric.lane(), call, row * C + col);
      });
      const std::uint32_t flag = exchange.begin(fabric);
      checks.holds(flag != 0, "a flag that is not 0");
      for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, mine); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, exchange.wait(fabric, flag, peer, theirs));
        theirs.each([&](std::int64_t row, std::int64_t col, T& element) {
          const T expected = packet_value<T>(peer, fabric.lane(), call, row * C + col);
          checks.holds(element == expected, "an element of the packets");
        });
      });
      checks.ok(exchange.end(fabric, flag, status), "the call");
    }
    return checks.done();
  });
}

// Any number of elements, of the same number on all ranks, in tiles of 1 x C.
template <class Team, class T, std::int64_t C, std::uint32_t lanes, std::uint32_t first>
Result<void> runs_arrive(Team& team) {
  constexpr std::int64_t most = 5 * C + 1;
  constexpr std::int64_t counts[] = {most, 0, 1, C, C + 1, 5 * C, 2 * C - 1, 0, 0, most};
  using Runs = PacketExchange<T, 1, C>;
  const Runs exchange(team, most);
  const auto from = *team.template window<T>({lanes, most});
  const auto to = *team.template window<T>({lanes, most});
  const std::uint32_t calls = team.size() > 8 ? 10 : 40;
  return team.lanes(lanes, [&, calls](auto& fabric) -> Result<void> {
    Checks checks;
    Random random = random_of(fabric);
    const Lane lane = fabric.lane();
    auto tile = fabric.template tile<T, 1, C>();
    const auto in_row = [&](Box box) { return Box{lane.value, box.col, box.rows, box.cols}; };
    fabric.set_counter(exchange.counts().epoch(lane), first);
    for (std::uint32_t call = 0; call < calls && checks.done(); ++call) {
      random_delay(random);
      const std::int64_t count = counts[call % 10];
      for (std::int64_t at = 0; at < count; ++at)
        fabric.local(from)[from.at(lane.value, at)] =
            packet_value<T>(fabric.rank(), lane, call, at);
      const std::uint32_t flag = exchange.begin(fabric, count);
      for (std::int64_t index = 0; index < Runs::tiles(count); ++index) {
        fabric.load(tile, from, in_row(Runs::box(index, count)));
        for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, tile, index); });
      }
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        for (std::int64_t index = 0; index < Runs::tiles(count); ++index) {
          status = worst(status, exchange.wait(fabric, flag, peer, tile, index));
          fabric.store(tile, to, in_row(Runs::box(index, count)));
        }
        for (std::int64_t at = 0; at < count; ++at)
          checks.holds(
              fabric.local(to)[to.at(lane.value, at)] == packet_value<T>(peer, lane, call, at),
              "an element of the run");
      });
      checks.ok(exchange.end(fabric, flag, status), "the call");
    }
    return checks.done();
  });
}

// More than it was made for: the call is refused on all ranks, nothing is sent, and the next one is
// as if there had been none. A tile beyond the last is no tile.
template <class Team>
Result<void> runs_that_do_not_fit(Team& team) {
  const PacketExchange<float, 1, 4> exchange(team, 9);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    auto tile = fabric.template tile<float, 1, 4>();
    const auto call = [&](std::int64_t elements, std::int64_t last, WaitStatus wanted) {
      const std::uint32_t flag = exchange.begin(fabric, elements);
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, tile, last); });
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, exchange.wait(fabric, flag, peer, tile, last));
      });
      if (fabric.size() > 1) checks.holds(status == wanted, "what the waits say");
      return exchange.end(fabric, flag, WaitStatus::ok);
    };
    for (const std::int64_t elements : {std::int64_t{13}, std::int64_t{-1}, INT64_MAX})
      checks.holds(call(elements, 0, WaitStatus::refused) == WaitStatus::refused, "too many");
    checks.ok(call(12, 0, WaitStatus::ok), "the first tile of three");
    checks.ok(call(12, 2, WaitStatus::ok), "the last tile of three");
    checks.ok(call(12, 0, WaitStatus::ok), "the first tile again");
    checks.ok(call(12, 3, WaitStatus::invalid), "none of the three");
    checks.ok(call(12, -1, WaitStatus::invalid), "none of the three");
    return checks.done();
  });
}

// A lane that waits for long sleeps, and is woken by the packets.
template <class Team>
Result<void> packets_wake_a_sleeper(Team& team) {
  const PacketExchange<double, 3, 3> exchange(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    auto tile = fabric.template tile<double, 3, 3>();
    for (std::uint32_t call = 0; call < 4; ++call) {
      const std::uint32_t flag = exchange.begin(fabric);
      if (call % fabric.size() == fabric.rank().value)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, tile); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, exchange.wait(fabric, flag, peer, tile));
      });
      checks.ok(exchange.end(fabric, flag, status), "the call");
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> packet_cases() {
  constexpr std::uint32_t near_end = 0xfffffff0U;
  return {
      {"Float", packets_arrive<Team, float, 5, 7, 1, 0>, Sizes::all},
      {"FloatOnThreeLanes", packets_arrive<Team, float, 5, 7, 3, 0>, Sizes::all},
      {"OneByte", packets_arrive<Team, std::uint8_t, 1, 1, 1, 0>, Sizes::few},
      {"Int8", packets_arrive<Team, std::int8_t, 9, 9, 1, 0>, Sizes::few},
      {"Int16", packets_arrive<Team, std::int16_t, 3, 11, 1, 0>, Sizes::few},
      {"Double", packets_arrive<Team, double, 4, 16, 1, 0>, Sizes::few},
      {"Float16", packets_arrive<Team, float16, 4, 16, 1, 0>, Sizes::few},
      {"Large", packets_arrive<Team, float, 16, 128, 1, 0>, Sizes::few},
      {"Runs", runs_arrive<Team, float, 16, 1, 0>, Sizes::all},
      {"RunsOnThreeLanes", runs_arrive<Team, double, 3, 3, 0>, Sizes::all},
      {"RunsOfBytes", runs_arrive<Team, std::uint8_t, 7, 1, 0>, Sizes::few},
      {"RunsWhereTheCountComesRound", runs_arrive<Team, float, 5, 3, near_end>, Sizes::few},
      {"RunsThatDoNotFit", runs_that_do_not_fit<Team>, Sizes::few},
      {"CountComesRound", packets_arrive<Team, float, 2, 9, 3, near_end>, Sizes::all},
      {"WakeASleeper", packets_wake_a_sleeper<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
