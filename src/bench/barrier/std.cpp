// std::barrier, always between threads: it has no other form.
#include <barrier>
#include <cstddef>

#include "bench/barrier/barrier.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

std::vector<Contender> std_barriers(const Request&) {
  const auto run = [](const Plan& plan) {
    return run_apart(plan, [&](std::span<RankLog> logs) {
      std::barrier<> barrier(static_cast<std::ptrdiff_t>(plan.ranks));
      return run_ranks(plan, As::threads, [&](std::uint32_t rank) {
        time_blocks(plan, logs[rank], [&] {
          barrier.arrive_and_wait();
          return true;
        });
      });
    });
  };
  return {Contender{
      .name = "std::barrier", .group = "std", .role = Role::peer, .as = As::threads, .run = run}};
}

}  // namespace muster::bench
