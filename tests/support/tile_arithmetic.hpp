// What tiles compute, against loops over plain arrays: for any fabric's tile, whose parts several
// threads may hold. Random bits: NaNs, infinities and subnormal numbers are among them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "muster/reduce.hpp"

namespace muster::testing {

template <class T>
[[nodiscard]] T random_number(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  T value{};
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  if constexpr (!std::is_integral_v<T>)
    if (bits % 7 < 5) value = convert<T>(static_cast<double>(random() % 4001) / 64.0 - 31.0);
  return value;
}

template <class T>
[[nodiscard]] bool is_nan(T value) {
  return !(value == value);
}

// The same bits, or both a NaN: which one, the processor says.
template <class T>
[[nodiscard]] bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (is_nan(a) && is_nan(b));
}

// The tile's elements by threads: make(thread) -> Tile.
template <class T, class Tile>
struct Parts {
  std::vector<Tile> of_thread;
  std::vector<T> all;  // what they hold together

  void load(std::mt19937_64& random) {
    all.resize(static_cast<std::size_t>(Tile::rows * Tile::cols));
    for (T& one : all) one = random_number<T>(random);
    for (Tile& tile : of_thread)
      tile.each([&](std::int64_t row, std::int64_t col, T& element) {
        element = all[static_cast<std::size_t>(row * Tile::cols + col)];
      });
  }
  // Each thread's elements, element by element, and how many there are.
  void expect_all(const char* what) {
    std::int64_t held = 0;
    for (Tile& tile : of_thread)
      tile.each([&](std::int64_t row, std::int64_t col, T& element) {
        ++held;
        ASSERT_TRUE(same(element, all[static_cast<std::size_t>(row * Tile::cols + col)]))
            << what << ", element " << row << ", " << col;
      });
    EXPECT_EQ(held, Tile::rows * Tile::cols);
  }
};

// No thread holds more than it may, and its groups are its elements, side by side.
template <class T, class Tile>
void expect_groups(Parts<T, Tile>& parts) {
  std::vector<int> held(static_cast<std::size_t>(Tile::rows * Tile::cols), 0);
  for (Tile& tile : parts.of_thread) {
    std::int64_t most = 0;
    tile.each([&](std::int64_t, std::int64_t, T&) { ++most; });
    EXPECT_LE(most, Tile::most_per_thread);
    std::vector<T*> elements;
    tile.each([&](std::int64_t, std::int64_t, T& element) { elements.push_back(&element); });
    std::vector<T*> grouped;
    tile.each_group([&](std::int64_t row, std::int64_t col, auto group) {
      static_assert(decltype(group)::size == Tile::group_size);
      for (int i = 0; i < group.size; ++i) {
        grouped.push_back(&group[i]);
        EXPECT_EQ(group.data() + i, &group[i]);
        ++held.at(static_cast<std::size_t>(row * Tile::cols + col + i));
      }
    });
    EXPECT_EQ(elements, grouped);
  }
  for (const int count : held) EXPECT_EQ(count, 1);
}

template <class T, class A, class B>
void expect_operators(Parts<T, A>& a, Parts<T, B>& b, std::mt19937_64& random) {
  const auto expect = [&](auto given, auto reference, const char* what) {
    a.load(random);
    b.load(random);
    for (std::size_t i = 0; i < a.all.size(); ++i) a.all[i] = reference(a.all[i], b.all[i]);
    for (std::size_t i = 0; i < a.of_thread.size(); ++i)
      a.of_thread[i].combine(b.of_thread[i], given);
    a.expect_all(what);
    b.expect_all("the other is as it was");
  };
  expect(Sum{}, Sum{}, "sum");
  expect(Prod{}, Prod{}, "prod");
  expect(Max{}, Max{}, "max");
  expect(Min{}, Min{}, "min");
  expect(ReduceOp::sum, Sum{}, "ReduceOp::sum");
  expect(ReduceOp::prod, Prod{}, "ReduceOp::prod");
  expect(ReduceOp::max, Max{}, "ReduceOp::max");
  expect(ReduceOp::min, Min{}, "ReduceOp::min");
  const auto second = [](T, T two) { return two; };
  expect(second, second, "an operator of one's own");
}

// with_type(tag) -> parts of a like of the same tile, of that type.
template <class T, class Tile, class LikeOf>
void expect_arithmetic(Parts<T, Tile> a, LikeOf like_of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  expect_groups(a);
  auto b = like_of(T{});
  expect_groups(b);
  expect_operators(a, b, random);

  // A tile with itself.
  a.load(random);
  for (T& one : a.all) one = Sum{}(one, one);
  for (auto& tile : a.of_thread) tile.combine(tile, Sum{});
  a.expect_all("a tile with itself");

  // Into the accumulator of a wider type, and rounded back once.
  using Wide = Accumulator<T>;
  auto sums = like_of(Wide{});
  expect_groups(sums);
  a.load(random);
  for (std::size_t i = 0; i < a.of_thread.size(); ++i) sums.of_thread[i].assign(a.of_thread[i]);
  sums.all.clear();
  for (const T one : a.all) sums.all.push_back(convert<Wide>(one));
  sums.expect_all("assigned");
  for (int peer = 0; peer < 3; ++peer) {
    b.load(random);
    for (std::size_t i = 0; i < b.of_thread.size(); ++i)
      sums.of_thread[i].combine(b.of_thread[i], ReduceOp::sum);
    for (std::size_t i = 0; i < b.all.size(); ++i)
      sums.all[i] = Sum{}(sums.all[i], convert<Wide>(b.all[i]));
    sums.expect_all("accumulated");
  }
  for (std::size_t i = 0; i < a.of_thread.size(); ++i) a.of_thread[i].assign(sums.of_thread[i]);
  for (std::size_t i = 0; i < a.all.size(); ++i) a.all[i] = convert<T>(sums.all[i]);
  a.expect_all("rounded back");

  // Elements of another width, both ways, and what zip is given.
  auto bytes = like_of(std::uint8_t{});
  auto wide = like_of(double{});
  expect_groups(bytes);
  expect_groups(wide);
  bytes.load(random);
  wide.load(random);
  for (std::size_t i = 0; i < bytes.of_thread.size(); ++i) {
    const auto& constant = bytes.of_thread[i];
    wide.of_thread[i].zip(constant, [](double& mine, const std::uint8_t& theirs) {
      if (theirs < 128) mine = 2.0 * theirs;
    });
  }
  for (std::size_t i = 0; i < wide.all.size(); ++i)
    if (bytes.all[i] < 128) wide.all[i] = 2.0 * bytes.all[i];
  wide.expect_all("zipped");
  bytes.expect_all("the other of zip");
}

}  // namespace muster::testing
