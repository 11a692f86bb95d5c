// The UCX peer: ucx_perftest, where it is installed.
#pragma once

#include <cstdint>
#include <string>

#include "bench/contender.hpp"

namespace muster::bench {

// What ucx_perftest reports as the latency of a put over shared memory: half of a round trip, in
// which each side puts as soon as it sees the other's last byte. Two processes alone, and one
// figure a run instead of one a block.
[[nodiscard]] Contender ucx_put(const Request& request);

// The mean latency in ns from what `ucx_perftest -f -v` prints. Errors: there is none in it.
[[nodiscard]] Result<Blocks> parse_perftest(const std::string& output);

}  // namespace muster::bench
