// `muster bench barrier`: the barriers beside the exchange floor, hand-written barriers and the
// barriers of others. Each function lists the contenders of one file.
#pragma once

#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

[[nodiscard]] Topic host_barrier();

[[nodiscard]] std::vector<Contender> floor_barriers(const Request& request);
[[nodiscard]] std::vector<Contender> bare_barriers(const Request& request);
[[nodiscard]] std::vector<Contender> muster_barriers(const Request& request);
[[nodiscard]] std::vector<Contender> std_barriers(const Request& request);
[[nodiscard]] std::vector<Contender> pthread_barriers(const Request& request);

}  // namespace muster::bench
