#include <algorithm>
#include <vector>

#include "bench/barrier/barrier.hpp"
#include "bench/collective/collective.hpp"
#include "bench/contender.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/transfer/transfer.hpp"

namespace muster::bench {

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> topics{host_barrier()};
    for (Topic& topic : host_transfers()) topics.push_back(std::move(topic));
    for (Topic& topic : host_collectives()) topics.push_back(std::move(topic));
    for (Topic& topic : gpu_topics()) topics.push_back(std::move(topic));
    return topics;
  }();
  return all;
}

std::vector<Contender> contenders_of(const Topic& topic, const Request& request) {
  std::vector<Contender> all = topic.contenders(request);
  const auto lacks = [](const std::vector<std::string>& wanted, const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  };
  std::erase_if(all, [&](const Contender& one) {
    return (one.role == Role::peer && lacks(request.peers, one.group)) ||
           (!one.algorithm.empty() && lacks(request.algorithms, one.algorithm));
  });
  return all;
}

}  // namespace muster::bench
