#include "bench/barrier/barrier.hpp"

#include <algorithm>
#include <utility>

namespace muster::bench {

namespace {

std::vector<Contender> barriers(const Request& request) {
  std::vector<Contender> all;
  for (const auto list : {floor_barriers, bare_barriers, muster_barriers, mpi_barriers,
                          std_barriers, pthread_barriers}) {
    for (Contender& contender : list(request)) {
      const bool wanted = contender.role != Role::peer ||
                          std::find(request.peers.begin(), request.peers.end(), contender.group) !=
                              request.peers.end();
      if (wanted) all.push_back(std::move(contender));
    }
  }
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
