// The MPI peers: a program of its own (bench/peers/mpi.cpp) that mpirun starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

// `muster-peer-mpi OPERATION BYTES` of each MPI that the request names, or of the one on the PATH;
// its ranks are processes, whatever the request says. An MPI that is named lies in a directory with
// bin/mpirun and, beside it, the peer that was compiled with it: `bench/peers/mpis.sh` makes such.
[[nodiscard]] std::vector<Contender> mpi_contenders(const Request& request, const std::string& name,
                                                    const std::string& operation,
                                                    std::uint64_t bytes);

// The contenders, and these behind them.
[[nodiscard]] std::vector<Contender> beside_mpi(const Request& request,
                                                std::vector<Contender> contenders,
                                                const std::string& name,
                                                const std::string& operation, std::uint64_t bytes);

}  // namespace muster::bench
