// One `muster bench TOPIC`: what was asked for, and doing it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.hpp"

namespace muster::cli {

struct BenchOptions {
  bench::Request request;
  std::vector<std::uint32_t> ranks{2};  // each is measured
  std::vector<std::string> sizes;       // as parse_sizes reads them
  bool threads = false;
  std::string fabric = "host";
  std::string json;
  std::string svg;
};

// A table for each number of ranks and each size; returns the exit status: 1 where one of muster's
// own contenders, a floor or a file failed. Throws CLI::ValidationError where a file cannot be
// written or a chart would have other than one axis of several values.
[[nodiscard]] int bench_topic(const bench::Topic& topic, const BenchOptions& options);

}  // namespace muster::cli
