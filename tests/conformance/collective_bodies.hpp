// Collectives: every algorithm, type and operator, counts around the edges of tiles and staging,
// in place and not, call after call with other data each time, ranks delayed at random.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "conformance/cases.hpp"
#include "conformance/delay.hpp"
#include "muster/collective.hpp"
#include "muster/half.hpp"

namespace muster::conformance {

// Tiles and staging are small here, so that short messages have many of both.
inline constexpr std::int64_t collective_tile = 16;
inline constexpr std::int64_t collective_chunk = 64;

// Numbers without a pattern, the same on every rank.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

// What a rank has at an index in a call. Integers take all values; floats lie in [-1, 1), and for
// products are powers of 2, so that 64 of them neither vanish nor overflow a float.
template <class T, class Op>
[[nodiscard]] T element_of(std::uint32_t rank, std::uint32_t call, std::int64_t index) {
  const std::uint64_t bits = mixed((std::uint64_t{rank} << 48U) ^ (std::uint64_t{call} << 36U) ^
                                   static_cast<std::uint64_t>(index));
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (std::is_same_v<Op, Prod>) {
    constexpr float values[] = {0.5F, 1, -1, 2};
    return convert<T>(values[bits % 4]);
  } else {
    return convert<T>(static_cast<double>(bits >> 11U) * 0x1p-52 - 1);
  }
}

// The operator over all ranks: integers as they wrap, floats as doubles, and how far a result may
// lie from that. float16 and bfloat16 are summed as floats and rounded once.
template <class T, class Op>
[[nodiscard]] bool is_result(T seen, std::uint32_t ranks, std::uint32_t call, std::int64_t index) {
  using Exact = std::conditional_t<std::is_integral_v<T>, T, double>;
  Exact exact = convert<Exact>(element_of<T, Op>(0, call, index));
  for (std::uint32_t rank = 1; rank < ranks; ++rank)
    exact = Op{}(exact, convert<Exact>(element_of<T, Op>(rank, call, index)));
  if constexpr (std::is_integral_v<T>) {
    return seen == exact;
  } else {
    const T nearest = convert<T>(exact);
    if (seen == nearest) return true;
    constexpr bool is_16 = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
    constexpr double step = std::is_same_v<T, float16>    ? 0x1p-10
                            : std::is_same_v<T, bfloat16> ? 0x1p-7
                            : std::is_same_v<T, float>    ? 0x1p-23
                                                          : 0x1p-52;
    // Where a sum of 16 bits lies next to a tie, floats may round it the other way.
    const double size = std::abs(exact) > 1 ? std::abs(exact) : 1;
    return std::abs(convert<double>(seen) - exact) <= step * size * (is_16 ? 1 : ranks);
  }
}

[[nodiscard]] inline std::vector<std::int64_t> collective_counts() {
  return {0,
          1,
          3,
          collective_tile - 1,
          collective_tile,
          collective_chunk - 1,
          collective_chunk + 1,
          5 * collective_chunk + 7};
}

template <class T>
[[nodiscard]] MemoryRef<T> memory_of(std::vector<T>& elements) {
  return {elements.data(), 1, static_cast<std::int64_t>(elements.size())};
}

// What no call gives: a hole in a result is seen.
template <class T>
[[nodiscard]] std::vector<T> poisoned(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count), convert<T>(77));
}

template <class T, class Op>
[[nodiscard]] std::vector<T> input_of(std::uint32_t rank, std::uint32_t call, std::int64_t count) {
  std::vector<T> input(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    input[static_cast<std::size_t>(i)] = element_of<T, Op>(rank, call, i);
  return input;
}

// A hash of a result's bytes: ranks compare bits, not numbers.
template <class T>
[[nodiscard]] std::uint64_t bits_of_all(const std::vector<T>& elements) {
  std::uint64_t hash = elements.size();
  const auto bytes = std::as_bytes(std::span(elements));
  for (const std::byte byte : bytes) hash = mixed(hash ^ static_cast<std::uint64_t>(byte));
  return hash;
}

// act(lanes, count, call) for all of them: one lane, some, and more than there are tiles.
template <class Act>
void each_size(Act&& act) {
  std::uint32_t call = 0;
  for (const std::uint32_t lanes : {1U, 2U, 4U})
    for (const std::int64_t count : collective_counts()) act(lanes, count, call++);
}

template <class Team, class T, class Op, Algorithm algorithm>
Result<void> all_reduce_sums(Team& team) {
  const AllReduce<T, collective_tile> sums(team,
                                           {.algorithm = algorithm, .chunk = collective_chunk});
  const AllGather<std::uint64_t, 1> compare(team);
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    std::vector<T> from = input_of<T, Op>(rank, call, count);
    std::vector<T> to = poisoned<T>(count);
    const bool in_place = call % 2 == 1;
    if (in_place) to = from;
    checks.ok(team.lanes(lanes,
                         [&](auto& fabric) {
                           Random random = random_of(fabric);
                           random_delay(random);
                           return sums.run(fabric, memory_of(to), memory_of(in_place ? to : from),
                                           count, Op{});
                         }),
              "the call");
    for (std::int64_t i = 0; i < count; ++i)
      if (!checks.holds(is_result<T, Op>(to[static_cast<std::size_t>(i)], team.size(), call, i),
                        "an element of the result"))
        break;
    std::vector<std::uint64_t> mine{bits_of_all(to)};
    std::vector<std::uint64_t> all(team.size());
    checks.ok(team.lane([&](auto& fabric) {
      return compare.run(fabric, memory_of(all), memory_of(mine), 1);
    }),
              "the comparison");
    for (const std::uint64_t one : all) checks.equal(one, mine[0], "the bits of a rank");
  });
  return checks.done();
}

// On windows, in place, and behind another call without anything in between.
template <class Team, class T, Algorithm algorithm>
Result<void> all_reduce_on_windows(Team& team) {
  constexpr std::int64_t most = 5 * collective_chunk + 7;
  const AllReduce<T, collective_tile> sums(team,
                                           {.algorithm = algorithm, .chunk = collective_chunk});
  const auto window = *team.template window<T>({most});
  const std::uint32_t ranks = team.size();
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const auto body = [&](auto& fabric) -> Result<void> {
      Checks lane;
      Random random = random_of(fabric);
      const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
      auto view = fabric.local(window);
      for (std::uint32_t again = 3 * call; again < 3 * call + 3 && lane.done(); ++again) {
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          view[i] = element_of<T, Sum>(fabric.rank().value, again, i);
        random_delay(random);
        lane.ok(sums.run(fabric, window, window, count), "the call");
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          lane.holds(is_result<T, Sum>(view[i], ranks, again, i), "an element of the result");
      }
      return lane.done();
    };
    checks.ok(team.lanes(lanes, body), "the calls");
  });
  return checks.done();
}

template <class Team, class T, class Op>
Result<void> reduce_scatter_parts(Team& team) {
  const ReduceScatter<T, collective_tile> sums(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    std::vector<T> from = input_of<T, Op>(rank, call, count * team.size());
    std::vector<T> to = poisoned<T>(count);
    const bool in_place = call % 2 == 1;
    const MemoryRef<T> part{from.data() + rank * count, 1, count};
    checks.ok(team.lanes(lanes,
                         [&](auto& fabric) {
                           Random random = random_of(fabric);
                           random_delay(random);
                           return sums.run(fabric, in_place ? part : memory_of(to), memory_of(from),
                                           count, Op{});
                         }),
              "the call");
    const T* result = in_place ? part.data : to.data();
    for (std::int64_t i = 0; i < count; ++i)
      checks.holds(is_result<T, Op>(result[i], team.size(), call, rank * count + i),
                   "an element of the part");
  });
  return checks.done();
}

template <class Team, class T>
Result<void> all_gather_rows(Team& team) {
  const AllGather<T, collective_tile> gather(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    std::vector<T> from = input_of<T, Sum>(rank, call, count);
    std::vector<T> to = poisoned<T>(count * team.size());
    const bool in_place = call % 2 == 1;
    const MemoryRef<T> part{to.data() + rank * count, 1, count};
    if (in_place) std::copy(from.begin(), from.end(), part.data);
    checks.ok(team.lanes(lanes,
                         [&](auto& fabric) {
                           Random random = random_of(fabric);
                           random_delay(random);
                           return gather.run(fabric, memory_of(to),
                                             in_place ? part : memory_of(from), count);
                         }),
              "the call");
    for (std::int64_t i = 0; i < count * team.size(); ++i)
      checks.holds(to[static_cast<std::size_t>(i)] ==
                       element_of<T, Sum>(static_cast<std::uint32_t>(i / count), call, i % count),
                   "an element of a row");
  });
  return checks.done();
}

template <class Team, class T>
Result<void> all_to_all_rows(Team& team) {
  const AllToAll<T, collective_tile> exchange(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    std::vector<T> from = input_of<T, Sum>(rank, call, count * team.size());
    std::vector<T> to = poisoned<T>(count * team.size());
    checks.ok(team.lanes(lanes,
                         [&](auto& fabric) {
                           Random random = random_of(fabric);
                           random_delay(random);
                           return exchange.run(fabric, memory_of(to), memory_of(from), count);
                         }),
              "the call");
    for (std::int64_t i = 0; i < count * team.size(); ++i)
      checks.holds(to[static_cast<std::size_t>(i)] ==
                       element_of<T, Sum>(static_cast<std::uint32_t>(i / count), call,
                                          rank * count + i % count),
                   "an element of a row");
  });
  return checks.done();
}

// What a call refuses, before it tells anybody: so all ranks are refused, and the next call works.
template <class Team>
Result<void> collectives_refuse(Team& team) {
  const AllReduce<float> sums(team);
  const AllToAll<float> exchange(team);
  const AllGather<float> gather(team);
  const ReduceScatter<float> scatter(team);
  const Broadcast<float> broadcast(team);
  const std::int64_t ranks = team.size();
  std::vector<float> many(static_cast<std::size_t>(4 * ranks));
  const MemoryRef<float> all = memory_of(many);
  const MemoryRef<float> two{many.data(), 1, 2};
  const MemoryRef<float> next{many.data() + 1, 1, 2};
  const auto window = *team.template window<float>({4 * ranks});
  Checks checks;
  const auto refused = [&](auto&& call, const char* what) {
    WaitStatus status = WaitStatus::ok;
    (void)team.lane([&](auto& fabric) { status = call(fabric); });
    checks.equal(status, WaitStatus::invalid, what);
  };
  refused([&](auto& f) { return sums.run(f, two, two, 3); }, "a count beyond the memory");
  refused([&](auto& f) { return sums.run(f, two, two, -1); }, "a negative count");
  refused([&](auto& f) { return sums.run(f, next, two, 2); }, "memory that overlaps");
  refused([&](auto& f) { return exchange.run(f, all, all, 1); }, "all_to_all in place");
  refused([&](auto& f) { return exchange.run(f, window, window, 1); }, "the same on windows");
  refused([&](auto& f) { return gather.run(f, all, two, 3); }, "a part that is shorter than count");
  // Times the number of ranks these come round to what would fit.
  for (const std::int64_t count : {INT64_MIN, INT64_MIN / 2, std::int64_t{1} << 62U, INT64_MAX}) {
    refused([&](auto& f) { return exchange.run(f, all, window, count); }, "all_to_all too long");
    refused([&](auto& f) { return gather.run(f, all, window, count); }, "all_gather too long");
    refused([&](auto& f) { return scatter.run(f, window, all, count); }, "reduce_scatter too long");
  }
  refused([&](auto& f) { return broadcast.run(f, two, next, 1, Rank{f.size()}); },
          "a root that does not exist");
  const AllReduce<float> direct(team, {.algorithm = Algorithm::direct});
  refused([&](auto& f) { return direct.run(f, two, two, 2); }, "direct on plain memory");
  many[0] = 1;
  checks.ok(team.lane([&](auto& f) { return sums.run(f, two, two, 2); }), "the call after these");
  checks.equal(many[0], static_cast<float>(ranks), "its sum");
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> collective_cases() {
  using enum Algorithm;
  return {
      {"PacketsFloat", all_reduce_sums<Team, float, Sum, packets>, Sizes::all},
      {"PacketsBfloat16", all_reduce_sums<Team, bfloat16, Sum, packets>, Sizes::few},
      {"PacketsOnWindows", all_reduce_on_windows<Team, std::uint64_t, packets>, Sizes::few},
      {"OneShotFloat", all_reduce_sums<Team, float, Sum, one_shot>, Sizes::all},
      {"TwoPhaseFloat", all_reduce_sums<Team, float, Sum, two_phase>, Sizes::all},
      {"RingFloat", all_reduce_sums<Team, float, Sum, ring>, Sizes::all},
      {"AutomaticFloat", all_reduce_sums<Team, float, Sum, automatic>, Sizes::few},
      {"OneShotProd", all_reduce_sums<Team, float, Prod, one_shot>, Sizes::few},
      {"TwoPhaseMax", all_reduce_sums<Team, std::int32_t, Max, two_phase>, Sizes::few},
      {"RingMin", all_reduce_sums<Team, std::uint64_t, Min, ring>, Sizes::few},
      {"OneShotInt8", all_reduce_sums<Team, std::int8_t, Sum, one_shot>, Sizes::few},
      {"TwoPhaseUint16", all_reduce_sums<Team, std::uint16_t, Prod, two_phase>, Sizes::few},
      {"RingInt64", all_reduce_sums<Team, std::int64_t, Sum, ring>, Sizes::few},
      {"TwoPhaseDouble", all_reduce_sums<Team, double, Sum, two_phase>, Sizes::few},
      {"OneShotFloat16", all_reduce_sums<Team, float16, Sum, one_shot>, Sizes::few},
      {"TwoPhaseFloat16", all_reduce_sums<Team, float16, Max, two_phase>, Sizes::few},
      {"RingBfloat16", all_reduce_sums<Team, bfloat16, Sum, ring>, Sizes::all},
      {"DirectFloat", all_reduce_on_windows<Team, float, direct>, Sizes::all},
      {"DirectBfloat16", all_reduce_on_windows<Team, bfloat16, direct>, Sizes::few},
      {"TwoPhaseOnWindows", all_reduce_on_windows<Team, float, two_phase>, Sizes::few},
      {"RingOnWindows", all_reduce_on_windows<Team, std::int32_t, ring>, Sizes::few},
      {"ReduceScatterFloat", reduce_scatter_parts<Team, float, Sum>, Sizes::all},
      {"ReduceScatterUint8", reduce_scatter_parts<Team, std::uint8_t, Max>, Sizes::few},
      {"AllGatherFloat", all_gather_rows<Team, float>, Sizes::all},
      {"AllGatherInt16", all_gather_rows<Team, std::int16_t>, Sizes::few},
      {"AllToAllFloat", all_to_all_rows<Team, float>, Sizes::all},
      {"AllToAllDouble", all_to_all_rows<Team, double>, Sizes::few},
      {"Refusals", collectives_refuse<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
