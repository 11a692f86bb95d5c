// remote_add from all ranks at once: exact for integers, which wrap; for floats equal to some
// order, so exact where every partial sum is.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/half.hpp"
#include "muster/transfer.hpp"

namespace muster::conformance {

inline constexpr std::int64_t sum_rows = 5;
inline constexpr std::int64_t sum_cols = 7;

template <class T>
[[nodiscard]] T number(std::int64_t value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T(static_cast<float>(value));
}

// What the rank adds in each round. Integers run over their whole range; floats are small whole
// numbers, so that each partial sum of any order is exact, in the narrowest type up to 256.
template <class T>
[[nodiscard]] T addend(std::uint32_t rank, std::int64_t index) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>((rank + 1) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(index));
  else
    return number<T>((rank + index) % 3);
}

// As remote_add adds: integers come round.
template <class T>
[[nodiscard]] T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return static_cast<T>(a + b);
  }
}

template <class T>
bool same(Checks& checks, const T& seen, const T& expected) {
  if constexpr (std::is_arithmetic_v<T>)
    return checks.equal<T>(seen, expected, "a sum");
  else
    return checks.equal<float>(static_cast<float>(seen), static_cast<float>(expected), "a sum");
}

// Every lane of every rank adds to the same place of every rank, `rounds` times.
template <class Team, class T>
Result<void> everybody_adds(Team& team) {
  constexpr std::uint32_t lanes = 3;
  const auto source = *team.template window<T>({sum_rows, sum_cols});
  const auto target = *team.template window<T>({sum_rows + 2, sum_cols + 1});
  const EpochBarrier barrier(team);
  const Region region{{1, 0}, {0, 0}, sum_rows, sum_cols};
  // The largest exact sum of bfloat16 is 256: 16 ranks x 3 lanes x 2 x 2 rounds = 192.
  const std::int64_t rounds = 2;
  const Result<void> added = team.lanes(lanes, [&](auto& fabric) -> Result<void> {
    Checks checks;
    if (fabric.lane() == Lane{0})
      for (std::int64_t i = 0; i < source.size(); ++i)
        fabric.local(source)[i] = addend<T>(fabric.rank().value, i);
    std::vector<T> memory;
    for (std::int64_t i = 0; i < source.size(); ++i)
      memory.push_back(addend<T>(fabric.rank().value, i));
    const MemoryRef<const T> plain{memory.data(), sum_rows, sum_cols};
    checks.ok(barrier.sync(fabric), "the barrier before");
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank peer = right_of(fabric, step);
        if (fabric.lane() == Lane{0})  // who wrote the source
          remote_add<2, 4>(fabric,
                           *make_transfer(target, source, region,
                                          {.chunk_rows = 2, .chunk_cols = 3, .pipeline = true}),
                           peer);
        else
          remote_add<3, 3>(fabric, *make_transfer(target, plain, region), peer);
      }
    }
    checks.ok(barrier.sync(fabric), "the barrier after");
    return checks.done();
  });
  if (!added) return added;
  if (const Result<void> met = team.sync(); !met) return met;
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::int64_t row = 0; row < target.rows; ++row) {
      for (std::int64_t col = 0; col < target.cols; ++col) {
        T expected{};
        if (row >= 1 && row <= sum_rows && col < sum_cols)
          for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
            for (std::int64_t i = 0; i < rounds * lanes; ++i)
              expected = sum_of(expected, addend<T>(rank, source.at(row - 1, col)));
        same<T>(checks, static_cast<T>(fabric.local(target)[target.at(row, col)]), expected);
      }
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> remote_add_cases() {
  return {
      {"Int8", everybody_adds<Team, std::int8_t>, Sizes::all},
      {"Uint8", everybody_adds<Team, std::uint8_t>, Sizes::few},
      {"Int16", everybody_adds<Team, std::int16_t>, Sizes::all},
      {"Uint16", everybody_adds<Team, std::uint16_t>, Sizes::few},
      {"Int32", everybody_adds<Team, std::int32_t>, Sizes::all},
      {"Uint32", everybody_adds<Team, std::uint32_t>, Sizes::few},
      {"Int64", everybody_adds<Team, std::int64_t>, Sizes::all},
      {"Uint64", everybody_adds<Team, std::uint64_t>, Sizes::few},
      {"Float", everybody_adds<Team, float>, Sizes::all},
      {"Double", everybody_adds<Team, double>, Sizes::all},
      {"Float16", everybody_adds<Team, float16>, Sizes::all},
      {"Bfloat16", everybody_adds<Team, bfloat16>, Sizes::all},
  };
}

}  // namespace muster::conformance
