// `muster bench --fabric gpu barrier|notify|put|get|packet|grid`: between kernels on two GPUs,
// beside the same by hand and other libraries. Programs of their own do the measuring
// (bench/program.hpp), found beside this one where they were built: bench/gpu and bench/peers.
#pragma once

#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

[[nodiscard]] std::vector<Topic> gpu_topics();

}  // namespace muster::bench
