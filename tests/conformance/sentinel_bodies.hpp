// Slots whose data is its own flag: tiles of all types that have a number to spare between all
// ranks, call after call, each in a run of lanes of its own; NaNs of every kind; all_reduces.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/cases.hpp"
#include "conformance/delay.hpp"
#include "muster/collective/sentinel_all_reduce.hpp"
#include "muster/half.hpp"
#include "muster/sentinel.hpp"

namespace muster::conformance {

// Different for neighbours, ranks, calls and lanes, and exact in every type; now and then a NaN
// with all bits set.
template <class T>
[[nodiscard]] T sentinel_value(Rank rank, Lane lane, std::uint32_t call, std::int64_t index) {
  const auto value =
      (rank.value * 7 + lane.value * 3 + call * 13 + static_cast<std::uint32_t>(index)) % 101;
  if (value % 17 == 3)
    return __builtin_bit_cast(T, static_cast<detail::SentinelBits<T>>(~std::uint64_t{0}));
  return T(static_cast<float>(value));
}

// The same number, or both none.
template <class T>
[[nodiscard]] bool is_same(T a, T b) {
  return a == b || (!(a == a) && !(b == b));
}

template <class Team, class T, std::int64_t R, std::int64_t C, std::uint32_t lanes,
          std::uint32_t sets>
Result<void> sentinels_arrive(Team& team) {
  const SentinelExchange<T, R, C, sets> exchange(team);
  const std::uint32_t calls = team.size() > 8 ? 5 : 16;
  for (std::uint32_t number = 0; number < calls; ++number) {
    const Result<void> done = team.lanes(lanes, [&](auto& fabric) -> Result<void> {
      Checks checks;
      Random random = random_of(fabric);
      auto mine = fabric.template tile<T, R, C>();
      auto theirs = fabric.template tile<T, R, C>();
      random_delay(random);
      fabric.launch_wait();
      mine.each([&](std::int64_t row, std::int64_t col, T& element) {
        element = sentinel_value<T>(fabric.rank(), fabric.lane(), number, row * C + col);
      });
      const std::uint32_t call = exchange.begin(fabric);
      fabric.replace_sentinel(mine);
      for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, call, peer, mine); });
      exchange.sent(fabric, call);
      fabric.launch_done();
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, exchange.wait(fabric, call, peer, theirs));
        theirs.each([&](std::int64_t row, std::int64_t col, T& element) {
          const T expected = sentinel_value<T>(peer, fabric.lane(), number, row * C + col);
          checks.holds(is_same(element, expected), "an element that has come");
        });
      });
      checks.ok(exchange.end(fabric, call, status), "the call");
      return checks.done();
    });
    if (!done) return done;
  }
  return {};
}

// What becomes of numbers on the way: all but the one NaN arrive as the bits that they were.
template <class Team>
Result<void> sentinels_keep_their_bits(Team& team) {
  constexpr std::uint32_t bits[] = {0U,          0x80000000U, 0x7f800000U, 0xff800000U,
                                    0x7fc00000U, 0x7fffffffU, 0xfffffffeU, 0xffff0000U,
                                    0x0000ffffU, 0x3f800000U, 0x00000001U, ~0U};
  constexpr std::int64_t count = std::size(bits);
  const SentinelExchange<float, 1, count> exchange(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    auto tile = fabric.template tile<float, 1, count>();
    tile.each([&](std::int64_t, std::int64_t col, float& element) {
      element = __builtin_bit_cast(float, bits[col]);
    });
    const auto look = [&](auto& seen) {
      seen.each([&](std::int64_t, std::int64_t col, float& element) {
        const std::uint32_t wanted = bits[col] == ~0U ? 0x7fffffffU : bits[col];
        checks.holds(__builtin_bit_cast(std::uint32_t, element) == wanted, "the bits of a number");
      });
    };
    fabric.replace_sentinel(tile);
    look(tile);
    const std::uint32_t call = exchange.begin(fabric);
    for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, call, peer, tile); });
    exchange.sent(fabric, call);
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, exchange.wait(fabric, call, peer, tile));
      look(tile);
    });
    checks.ok(exchange.end(fabric, call, status), "the call");
    return checks.done();
  });
}

template <class Team, class T, std::int64_t C, std::uint32_t lanes>
Result<void> sentinel_sums(Team& team) {
  constexpr std::int64_t most = 5 * C + 1;
  constexpr std::int64_t counts[] = {most, 0, 1, C, C + 1};
  const SentinelAllReduce<T, C> sum(team, most);
  const auto from = *team.template window<T>({most});
  const auto to = *team.template window<T>({most});
  const std::uint32_t calls = team.size() > 8 ? 5 : 15;
  for (std::uint32_t call = 0; call < calls; ++call) {
    const std::int64_t count = counts[call % 5];
    const Result<void> done = team.lanes(lanes, [&](auto& fabric) -> Result<void> {
      Checks checks;
      const auto value = [&](std::uint32_t rank, std::int64_t at) {
        return T(static_cast<float>((rank * 3 + call * 5 + static_cast<std::uint32_t>(at)) % 8));
      };
      const auto each_own = [&](auto&& visit) {
        for (std::int64_t at = fabric.lane().value * C; at < count; at += C * fabric.lanes())
          for (std::int64_t i = at; i < at + C && i < count; ++i) visit(i);
      };
      each_own([&](std::int64_t i) { fabric.local(from)[i] = value(fabric.rank().value, i); });
      fabric.converge();
      checks.ok(sum.run(fabric, call % 2 == 0 ? to : from, from, count), "the call");
      each_own([&](std::int64_t i) {
        float all = 0;
        for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
          all += static_cast<float>(value(rank, i));
        const T seen = fabric.local(call % 2 == 0 ? to : from)[i];
        checks.holds(is_same(seen, T(all)), "the sum over all ranks");
      });
      return checks.done();
    });
    if (!done) return done;
  }
  return {};
}

template <class Team>
std::vector<Case<Team>> sentinel_cases() {
  return {
      {"SentinelFloat", sentinels_arrive<Team, float, 5, 7, 1, 2>, Sizes::all},
      {"SentinelFloatOnThreeLanes", sentinels_arrive<Team, float, 5, 7, 3, 2>, Sizes::few},
      {"SentinelFloatInThreeSets", sentinels_arrive<Team, float, 4, 4, 1, 3>, Sizes::few},
      {"SentinelDouble", sentinels_arrive<Team, double, 3, 3, 1, 2>, Sizes::few},
      {"SentinelFloat16", sentinels_arrive<Team, float16, 4, 16, 1, 2>, Sizes::few},
      {"SentinelBfloat16", sentinels_arrive<Team, bfloat16, 3, 11, 1, 2>, Sizes::few},
      {"SentinelOfOneElement", sentinels_arrive<Team, float16, 1, 1, 1, 2>, Sizes::few},
      {"SentinelsKeepTheirBits", sentinels_keep_their_bits<Team>, Sizes::few},
      {"SentinelSums", sentinel_sums<Team, float, 16, 1>, Sizes::all},
      {"SentinelSumsOnThreeLanes", sentinel_sums<Team, float, 4, 3>, Sizes::few},
      {"SentinelSumsOfBfloat16", sentinel_sums<Team, bfloat16, 8, 1>, Sizes::few},
      {"SentinelSumsOfDoubles", sentinel_sums<Team, double, 3, 1>, Sizes::few},
  };
}

}  // namespace muster::conformance
