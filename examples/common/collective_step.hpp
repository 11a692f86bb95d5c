// What the steps on collectives share: their numbers, and how they are filled in and looked at.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

inline constexpr std::int64_t elements = 64;

using Values = std::vector<float>;

// Numbers around 0 as a normal distribution has them, the same on every machine: the sum of twelve
// uniform ones less 6.
[[nodiscard]] inline float normal(std::uint32_t rank, std::int64_t index) {
  auto state = static_cast<std::uint32_t>(rank * 7919 + static_cast<std::uint32_t>(index) + 1);
  float sum = -6;
  for (int draw = 0; draw < 12; ++draw) {
    state = state * 1664525U + 1013904223U;
    sum += static_cast<float>(state >> 8U) * 0x1p-24F;
  }
  return sum;
}

[[nodiscard]] inline Values normal_values(std::uint32_t rank) {
  Values values;
  for (std::int64_t i = 0; i < elements; ++i) values.push_back(normal(rank, i));
  return values;
}

// x[r][j] = 100 r + j
[[nodiscard]] inline Values counting_values(std::uint32_t rank, std::int64_t count = elements) {
  Values values;
  for (std::int64_t j = 0; j < count; ++j)
    values.push_back(static_cast<float>(100 * static_cast<std::int64_t>(rank) + j));
  return values;
}

// The golden value of every all_reduce here.
[[nodiscard]] inline Values sum_of_normals(std::uint32_t ranks) {
  Values sums(elements);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < elements; ++i)
      sums[static_cast<std::size_t>(i)] += normal(rank, i);
  return sums;
}

// The own part of a window, element by element, by the lane's threads in turn; whole behind it.
template <class F>
void fill(F& fabric, muster::WindowRef<float> window, const Values& values) {
  muster::for_each_index(fabric, static_cast<std::int64_t>(values.size()), [&](std::int64_t i) {
    fabric.local(window)[i] = values[static_cast<std::size_t>(i)];
  });
  fabric.converge();
}

// What the own part holds, by one thread.
template <class F>
void look(F& fabric, muster::WindowRef<float> window, Values& values) {
  fabric.converge();
  if (fabric.thread() != 0) return;
  values.clear();
  for (std::int64_t i = 0; i < window.size(); ++i) values.emplace_back(fabric.local(window)[i]);
}

[[nodiscard]] inline muster::Result<void> check_values(const Values& seen, const Values& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float tolerance = 1e-5F * std::fmax(1.0F, std::fabs(expected[i]));
    if (i >= seen.size() || !(std::fabs(seen[i] - expected[i]) <= tolerance))
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "element " + std::to_string(i) + " is " +
                                   (i < seen.size() ? std::to_string(seen[i]) : "missing") +
                                   ", expected " + std::to_string(expected[i])};
  }
  return {};
}

[[nodiscard]] inline muster::Error too_few(std::uint32_t ranks, std::uint32_t least) {
  return {.code = muster::ErrorCode::invalid_argument,
          .what = "there are " + std::to_string(ranks) + " ranks; this step needs " +
                  std::to_string(least) + " or more (-n)"};
}

}  // namespace tutorial
