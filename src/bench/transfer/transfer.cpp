#include "bench/transfer/transfer.hpp"

#include <functional>
#include <string>
#include <utility>

#include "bench/mpi.hpp"
#include "bench/ucx.hpp"

namespace muster::bench {

namespace {

using List = std::vector<Contender>;

// What the topics share.
Topic topic(std::string name, std::string unit, std::string summary, Sizes sizes,
            std::function<List(const Request&)> contenders) {
  return Topic{.name = std::move(name),
               .fabric = "host",
               .unit = std::move(unit),
               .summary = std::move(summary),
               .peers = {"mpi"},
               .contenders = std::move(contenders),
               .sizes = std::move(sizes)};
}

Topic put_topic(const Sizes& sizes) {
  Topic put = topic("put", "put", "put_signal and wait, beside memcpy and a flag, and MPI_Put",
                    sizes, [](const Request& r) {
                      return beside_mpi(r, {bare_put(r), muster_put(r), ucx_put(r)},
                                        "MPI_Put, flush, flag", "put", r.bytes);
                    });
  put.peers.emplace_back("ucx");
  return put;
}

List all_packets(const Request& request) {
  List all = beside_mpi(request, muster_packets(request), "MPI_Put, flush, MPI_Barrier",
                        "exchange_by_puts", request.bytes);
  return beside_mpi(request, std::move(all), "MPI_Alltoall", "exchange_by_alltoall", request.bytes);
}

}  // namespace

std::vector<Topic> host_transfers() {
  const Sizes wide{8, 64, 512, 4096, 32768, 262144, 2097152, 16777216};
  return {
      topic("notify", "notify", "A deposit and a wait, beside a bare store and MPI_Put", {},
            [](const Request& r) {
              return beside_mpi(r, {bare_notify(r), muster_notify(r)}, "MPI_Put of a flag",
                                "notify", 0);
            }),
      put_topic(wide),
      topic("get", "get", "notify, wait and get, beside a flag and memcpy, and MPI_Get", wide,
            [](const Request& r) {
              return beside_mpi(r, {bare_get(r), muster_get(r)}, "flag, MPI_Get, flush", "get",
                                r.bytes);
            }),
      topic("remote_add", "remote_add",
            "Atomic additions of int32, beside the same by hand and MPI_Accumulate",
            {8, 64, 512, 4096, 32768, 262144},
            [](const Request& r) {
              return beside_mpi(r, {bare_add(r), muster_add(r)}, "MPI_Accumulate, flush, flag",
                                "add", r.bytes);
            }),
      topic("packet", "exchange",
            "Tiles in packets between all ranks, beside put and a barrier, and MPI",
            {64, 512, 1024, 4096, 8192}, all_packets),
  };
}

}  // namespace muster::bench
