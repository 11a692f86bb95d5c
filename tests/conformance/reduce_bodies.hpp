// Sums over the ranks by hand: tiles like others, operators, accumulators, plain memory,
// neighbours.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "../examples/kernels/all_reduce.hpp"
#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/collective/share.hpp"
#include "muster/reduce.hpp"

namespace muster::conformance {

// Any bits of integers; floats of several magnitudes whose sums round, with the odd subnormal
// number.
template <class T>
[[nodiscard]] T drawn(std::uint32_t rank, std::int64_t index) {
  const std::uint64_t bits =
      (rank * 7919ULL + static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15ULL;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits >> 17U);
  else if (bits % 31 == 0)
    return convert<T>(0x1p-20 * static_cast<double>(bits >> 60U));
  else
    return convert<T>(static_cast<double>(bits >> 44U) / 4096.0 - 128.0);
}

template <class T>
[[nodiscard]] bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Every rank reduces what all have, each lane its share, in the order of the ranks: so all get the
// same bits, which a loop over the numbers gives as well. `count` is no multiple of anything.
template <class Team, class T>
Result<void> reduce_by_hand(Team& team) {
  constexpr std::int64_t count = 1'037;
  constexpr std::int64_t piece = 96;
  const auto source = *team.template window<T>({count});
  const auto target = *team.template window<T>({count});
  const EpochBarrier barrier(team);
  return team.lanes(2, [&](auto& fabric) -> Result<void> {
    Checks checks;
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    for (std::int64_t i = mine.first; i < mine.end(); ++i)
      fabric.local(source)[i] = drawn<T>(fabric.rank().value, i);
    checks.ok(barrier.sync(fabric), "the barrier before");
    auto tile = fabric.template tile<T, 1, piece>();
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min}) {
      for (std::int64_t at = mine.first; at < mine.end(); at += piece) {
        const Box box{0, at, 1, mine.end() - at < piece ? mine.end() - at : piece};
        auto all = fabric.template tile_like<Accumulator<T>>(tile);
        for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
          (void)fabric.remote_load(tile, source, Rank{rank}, box);
          if (rank == 0)
            all.assign(tile);
          else
            all.combine(tile, op);
        }
        tile.assign(all);
        fabric.store(tile, target, box);
      }
      for (std::int64_t i = mine.first; i < mine.end(); ++i) {
        auto wanted = convert<Accumulator<T>>(drawn<T>(0, i));
        for (std::uint32_t rank = 1; rank < fabric.size(); ++rank)
          wanted = with_operator(op, [&](auto one) {
            return one(wanted, convert<Accumulator<T>>(drawn<T>(rank, i)));
          });
        const T seen = fabric.local(target)[i];
        checks.equal(same_bits(seen, convert<T>(wanted)), true, "the bits of an element");
      }
      if (!checks.done()) break;
    }
    checks.ok(barrier.sync(fabric), "the barrier after");  // before another writes its source
    return checks.done();
  });
}

// Between plain memory and tiles, at every offset and extent: what is beyond the box becomes zero
// in the tile, and stays as it is in the memory.
template <class Team, class T>
Result<void> tiles_of_plain_memory(Team& team) {
  return team.lane([&](auto& fabric) -> Result<void> {
    constexpr std::int64_t rows = 7;
    constexpr std::int64_t cols = 21;
    Checks checks;
    std::vector<T> from(rows * cols);
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = drawn<T>(fabric.rank().value, static_cast<std::int64_t>(i));
    auto tile = fabric.template tile<T, 4, 16>();
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t col = 0; col < 5; ++col)
        for (std::int64_t high = 0; high <= 4; ++high)
          for (const std::int64_t wide : {0, 1, 7, 8, 15, 16}) {
            const Box box{row, col, high, wide};
            std::vector<T> to(from.size(), T(3));
            std::vector<T> wanted = to;
            fabric.load(tile, MemoryRef<const T>{from.data(), rows, cols}, box);
            fabric.store(tile, MemoryRef<T>{to.data(), rows, cols}, box);
            tile.each([&](std::int64_t r, std::int64_t c, T& element) {
              const bool inside = r < high && c < wide;
              const auto at = static_cast<std::size_t>((row + r) * cols + col + c);
              if (inside) wanted[at] = from[at];
              checks.equal(same_bits(element, inside ? from[at] : T{}), true, "an element");
            });
            checks.equal(std::memcmp(to.data(), wanted.data(), to.size() * sizeof(T)), 0,
                         "the memory");
          }
    return checks.done();
  });
}

// Round the ring, whatever the number of steps.
template <class Team>
Result<void> neighbours(Team& team) {
  return team.lane([](auto& fabric) -> Result<void> {
    Checks checks;
    const std::uint32_t ranks = fabric.size();
    for (std::uint32_t steps = 0; steps <= 3 * ranks; ++steps) {
      const std::uint32_t right = (fabric.rank().value + steps) % ranks;
      const std::uint32_t left = (fabric.rank().value + 3 * ranks - steps) % ranks;
      checks.equal(right_of(fabric, steps).value, right, "the rank to the right");
      checks.equal(left_of(fabric, steps).value, left, "the rank to the left");
    }
    checks.equal(right_of(fabric).value, (fabric.rank().value + 1) % ranks, "the next rank");
    checks.equal(left_of(fabric).value, (fabric.rank().value + ranks - 1) % ranks, "the last rank");
    return checks.done();
  });
}

// The all-reduce of docs/kernels.md, in place: counts that are no multiple of a tile, none at all,
// and another number of lanes in each call. Sums are exact in float16.
template <class Team>
Result<void> all_reduce_of_the_examples(Team& team) {
  constexpr std::int64_t columns = 16;
  const example::AllReduce<columns> sums(team);
  const auto data = *team.template window<float16>({3 * columns + 5});
  Checks checks;
  for (const std::uint32_t lanes : {3U, 2U, 1U, 3U}) {
    for (const std::int64_t count : {data.cols, columns, std::int64_t{1}, std::int64_t{0}}) {
      auto part = data;
      part.cols = count;
      const Result<void> ran = team.lanes(lanes, [&](auto& fabric) -> Result<void> {
        Checks found;
        const std::int64_t ranks = fabric.size();
        const auto each_own = [&](auto&& visit) {  // element of the tiles that this lane sums
          for (std::int64_t at = 0; at < count; ++at)
            if (fabric.thread() == 0 && at / columns % fabric.lanes() == fabric.lane().value)
              visit(at);
        };
        each_own([&](std::int64_t at) {
          fabric.local(part)[at] = float16(static_cast<float>(at % 7 + fabric.rank().value));
        });
        fabric.converge();
        found.ok(fabric.converge(sums.sum(fabric, part)), "the sum's status");
        each_own([&](std::int64_t at) {
          const std::int64_t sum = at % 7 * ranks + ranks * (ranks - 1) / 2;
          found.equal(static_cast<float>(fabric.local(part)[at]), static_cast<float>(sum), "a sum");
        });
        return found.done();
      });
      if (!checks.ok(ran, "a call")) return checks.done();
    }
  }
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> reduce_cases() {
  return {
      {"ReduceFloat", reduce_by_hand<Team, float>, Sizes::all},
      {"ReduceDouble", reduce_by_hand<Team, double>, Sizes::few},
      {"ReduceFloat16", reduce_by_hand<Team, float16>, Sizes::few},
      {"ReduceBfloat16", reduce_by_hand<Team, bfloat16>, Sizes::few},
      {"ReduceInt8", reduce_by_hand<Team, std::int8_t>, Sizes::few},
      {"ReduceInt32", reduce_by_hand<Team, std::int32_t>, Sizes::few},
      {"ReduceUint64", reduce_by_hand<Team, std::uint64_t>, Sizes::few},
      {"PlainMemoryFloat", tiles_of_plain_memory<Team, float>, Sizes::few},
      {"PlainMemoryInt8", tiles_of_plain_memory<Team, std::int8_t>, Sizes::few},
      {"PlainMemoryFloat16", tiles_of_plain_memory<Team, float16>, Sizes::few},
      {"PlainMemoryDouble", tiles_of_plain_memory<Team, double>, Sizes::few},
      {"Neighbours", neighbours<Team>, Sizes::all},
      {"AllReduceOfTheExamples", all_reduce_of_the_examples<Team>, Sizes::all},
  };
}

}  // namespace muster::conformance
