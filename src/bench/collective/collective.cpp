#include "bench/collective/collective.hpp"

#include <functional>
#include <string>
#include <utility>

#include "bench/mpi.hpp"

namespace muster::bench {

namespace {

using List = std::vector<Contender>;

Topic topic(std::string name, std::string summary, std::function<List(const Request&)> contenders) {
  return Topic{.name = name,
               .fabric = "host",
               .unit = name,
               .summary = std::move(summary),
               .peers = {"mpi"},
               .contenders = std::move(contenders),
               .sizes = {4, 64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216}};
}

}  // namespace

std::vector<Topic> host_collectives() {
  return {
      topic("all_reduce", "Sums of floats over all ranks by each algorithm, beside MPI_Allreduce",
            [](const Request& r) {
              List all = muster_all_reduce(r);
              all.push_back(mpi_contender("MPI_Allreduce", "allreduce", r.bytes));
              return all;
            }),
      topic("reduce_scatter", "A part of the sums to each rank, beside MPI_Reduce_scatter_block",
            [](const Request& r) {
              return List{muster_reduce_scatter(r),
                          mpi_contender("MPI_Reduce_scatter_block", "reduce_scatter", r.bytes)};
            }),
      topic(
          "all_gather", "What all ranks have, to each, beside MPI_Allgather",
          [](const Request& r) {
            return List{muster_all_gather(r), mpi_contender("MPI_Allgather", "allgather", r.bytes)};
          }),
      topic("broadcast", "What rank 0 has, to each, beside MPI_Bcast",
            [](const Request& r) {
              return List{muster_broadcast(r), mpi_contender("MPI_Bcast", "bcast", r.bytes)};
            }),
      topic("all_to_all", "A part of each rank's to each, beside MPI_Alltoall",
            [](const Request& r) {
              return List{muster_all_to_all(r), mpi_contender("MPI_Alltoall", "alltoall", r.bytes)};
            }),
  };
}

}  // namespace muster::bench
