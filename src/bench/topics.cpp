#include "bench/barrier/barrier.hpp"
#include "bench/contender.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/transfer/transfer.hpp"

namespace muster::bench {

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> topics{host_barrier()};
    for (Topic& topic : host_transfers()) topics.push_back(std::move(topic));
    for (Topic& topic : gpu_topics()) topics.push_back(std::move(topic));
    return topics;
  }();
  return all;
}

}  // namespace muster::bench
