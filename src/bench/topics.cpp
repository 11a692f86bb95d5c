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
  std::erase_if(all, [&](const Contender& one) {
    const auto& wanted = request.peers;
    return one.role == Role::peer &&
           std::find(wanted.begin(), wanted.end(), one.group) == wanted.end();
  });
  return all;
}

}  // namespace muster::bench
