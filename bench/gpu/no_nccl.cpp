// Where NCCL's device headers are not found: its contenders are left out, with a word.
#include <cstdio>

#include "bench/gpu/session.hpp"

namespace muster::bench_gpu {

void add_nccl(std::vector<Contender>& contenders);

void add_nccl(std::vector<Contender>&) {
  std::printf("NCCL's device barrier is left out: this program was built without NCCL\n");
}

}  // namespace muster::bench_gpu
