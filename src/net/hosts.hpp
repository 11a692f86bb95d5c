// Which ranks are on one host: those between which a descriptor can be handed over, for that is
// what sharing memory takes. Names say nothing about it: two hosts may have one name, and one host
// several (UTS namespaces); containers on one machine may or may not reach each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "net/bootstrap.hpp"

namespace muster::detail::net {

// Collective over all ranks. For each rank the number of its host: 0 is rank 0's, and each host is
// numbered by the place of its lowest rank among those of the hosts. The same on all ranks.
//
// A rank is on the host of the lowest rank to whose socket it can connect (an abstract unix socket,
// so of this network namespace), whose process has its user id, and with which it has exchanged a
// descriptor in both directions and found the same file behind it. A rank for which that fails is
// a host of its own. P tries at most for a rank, which ask nobody else where they fail; two
// exchanges of 40 and 4 bytes for each rank.
//
// Errors: those of the exchanges; system, where a rank has no descriptor or thread left.
[[nodiscard]] Result<std::vector<std::uint32_t>> hosts_of(Bootstrap& ranks,
                                                          std::chrono::nanoseconds within);

}  // namespace muster::detail::net
