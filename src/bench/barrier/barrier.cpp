#include "bench/barrier/barrier.hpp"

#include <utility>

#include "bench/mpi.hpp"

namespace muster::bench {

namespace {

std::vector<Contender> mpi_barriers(const Request& request) {
  return mpi_contenders(request, "MPI_Barrier", "barrier", 0);
}

std::vector<Contender> barriers(const Request& request) {
  std::vector<Contender> all;
  for (const auto list : {floor_barriers, bare_barriers, muster_barriers, mpi_barriers,
                          std_barriers, pthread_barriers})
    for (Contender& contender : list(request)) all.push_back(std::move(contender));
  return all;
}

}  // namespace

Topic host_barrier() {
  return Topic{.name = "barrier",
               .fabric = "host",
               .unit = "barrier",
               .summary = "Latency of each barrier, beside the exchange floor and other libraries",
               .peers = {"mpi", "std", "pthread"},
               .contenders = barriers};
}

}  // namespace muster::bench
