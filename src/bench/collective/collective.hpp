// `muster bench all_reduce|reduce_scatter|all_gather|broadcast|all_to_all|reduce|gather|scatter`:
// every algorithm, beside MPI. The size is what each rank has, or, where it gets or gives a part
// for each rank, one part.
#pragma once

#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

[[nodiscard]] std::vector<Topic> host_collectives();

// Each algorithm on plain memory, or in place on windows.
[[nodiscard]] std::vector<Contender> muster_all_reduce(const Request& request);
[[nodiscard]] Contender muster_reduce_scatter(const Request& request);
[[nodiscard]] Contender muster_all_gather(const Request& request);
[[nodiscard]] Contender muster_broadcast(const Request& request);
[[nodiscard]] Contender muster_all_to_all(const Request& request);
[[nodiscard]] Contender muster_reduce(const Request& request);
[[nodiscard]] Contender muster_gather(const Request& request);
[[nodiscard]] Contender muster_scatter(const Request& request);

}  // namespace muster::bench
