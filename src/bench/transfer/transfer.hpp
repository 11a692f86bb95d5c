// `muster bench notify|put|get|remote_add|packet`: messages between the ranks of a host, beside the
// same by hand and by others. In one call every rank sends to its right neighbour and hears from
// its left (packet: to and from every peer).
#pragma once

#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

[[nodiscard]] std::vector<Topic> host_transfers();

[[nodiscard]] Contender muster_notify(const Request& request);
[[nodiscard]] Contender muster_put(const Request& request);
[[nodiscard]] Contender muster_get(const Request& request);
[[nodiscard]] Contender muster_add(const Request& request);
// By packets, and by puts and a barrier.
[[nodiscard]] std::vector<Contender> muster_packets(const Request& request);

// By hand: a flag and memcpy or atomic additions in memory that the ranks share.
[[nodiscard]] Contender bare_notify(const Request& request);
[[nodiscard]] Contender bare_put(const Request& request);
[[nodiscard]] Contender bare_get(const Request& request);
[[nodiscard]] Contender bare_add(const Request& request);

}  // namespace muster::bench
