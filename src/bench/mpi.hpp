// The MPI peer: a program of its own (bench/peers/mpi.cpp) that mpirun starts.
#pragma once

#include <cstdint>
#include <string>

#include "bench/contender.hpp"

namespace muster::bench {

// Runs `muster-peer-mpi OPERATION BYTES`; its ranks are processes, whatever the request says.
[[nodiscard]] Contender mpi_contender(std::string name, std::string operation, std::uint64_t bytes);

}  // namespace muster::bench
