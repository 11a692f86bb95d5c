// One `muster bench TOPIC`: what was asked for, and doing it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "cli/sizes.hpp"

namespace muster::cli {

struct BenchOptions {
  bench::Request request;               // ranks, bytes and variant are filled in for each table
  std::vector<std::uint32_t> ranks{2};  // each is measured
  Sizes sizes;                          // each is measured; empty: the topic has none
  std::string json;                     // a file; empty: none
};

// A table for each number of ranks, size and variant; one line where the topic's devices are not
// there. Returns the exit status: 1 where one of muster's own contenders, a floor, a device or a
// file failed. Throws CLI::ValidationError where a file cannot be written.
[[nodiscard]] int bench_topic(const bench::Topic& topic, const BenchOptions& options);

}  // namespace muster::cli
