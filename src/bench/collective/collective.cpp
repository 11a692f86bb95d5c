#include "bench/collective/collective.hpp"

#include <functional>
#include <string>
#include <utility>

#include "bench/mpi.hpp"

namespace muster::bench {

namespace {

using List = std::vector<Contender>;

Topic topic(std::string name, std::string summary, std::function<List(const Request&)> contenders) {
  return Topic{
      .name = name,
      .fabric = "host",
      .unit = name,
      .summary = std::move(summary),
      .peers = {"mpi"},
      .contenders = std::move(contenders),
      .sizes = {4, 64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}};
}

Topic all_reduce_topic() {
  Topic all_reduce =
      topic("all_reduce", "Sums of floats over all ranks by each algorithm, beside MPI_Allreduce",
            [](const Request& r) {
              return beside_mpi(r, muster_all_reduce(r), "MPI_Allreduce", "allreduce", r.bytes);
            });
  all_reduce.algorithms = {"automatic", "packets", "one_shot", "two_phase", "ring", "direct"};
  return all_reduce;
}

}  // namespace

std::vector<Topic> host_collectives() {
  return {
      all_reduce_topic(),
      topic("reduce_scatter", "A part of the sums to each rank, beside MPI_Reduce_scatter_block",
            [](const Request& r) {
              return beside_mpi(r, {muster_reduce_scatter(r)}, "MPI_Reduce_scatter_block",
                                "reduce_scatter", r.bytes);
            }),
      topic("all_gather", "What all ranks have, to each, beside MPI_Allgather",
            [](const Request& r) {
              return beside_mpi(r, {muster_all_gather(r)}, "MPI_Allgather", "allgather", r.bytes);
            }),
      topic("broadcast", "What rank 0 has, to each, beside MPI_Bcast",
            [](const Request& r) {
              return beside_mpi(r, {muster_broadcast(r)}, "MPI_Bcast", "bcast", r.bytes);
            }),
      topic("all_to_all", "A part of each rank's to each, beside MPI_Alltoall",
            [](const Request& r) {
              return beside_mpi(r, {muster_all_to_all(r)}, "MPI_Alltoall", "alltoall", r.bytes);
            }),
      topic("reduce", "Sums of floats over all ranks to rank 0, beside MPI_Reduce",
            [](const Request& r) {
              return beside_mpi(r, {muster_reduce(r)}, "MPI_Reduce", "reduce", r.bytes);
            }),
      topic("gather", "What all ranks have, to rank 0, beside MPI_Gather",
            [](const Request& r) {
              return beside_mpi(r, {muster_gather(r)}, "MPI_Gather", "gather", r.bytes);
            }),
      topic("scatter", "A part of rank 0's to each, beside MPI_Scatter",
            [](const Request& r) {
              return beside_mpi(r, {muster_scatter(r)}, "MPI_Scatter", "scatter", r.bytes);
            }),
  };
}

}  // namespace muster::bench
