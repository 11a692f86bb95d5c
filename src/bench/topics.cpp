#include "bench/barrier/barrier.hpp"
#include "bench/contender.hpp"

namespace muster::bench {

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{host_barrier()};
  return all;
}

}  // namespace muster::bench
