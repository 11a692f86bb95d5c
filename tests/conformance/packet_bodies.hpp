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
      {"CountComesRound", packets_arrive<Team, float, 2, 9, 3, near_end>, Sizes::all},
      {"WakeASleeper", packets_wake_a_sleeper<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
