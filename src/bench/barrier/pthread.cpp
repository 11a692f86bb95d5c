// pthread_barrier; between processes where the ranks are processes.
#include <pthread.h>

#include "bench/barrier/barrier.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

void initialise(pthread_barrier_t* barrier, std::uint32_t ranks, As as) {
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(
      &attributes, as == As::processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(barrier, &attributes, ranks);
  pthread_barrierattr_destroy(&attributes);
}

}  // namespace

std::vector<Contender> pthread_barriers(const Request& request) {
  const auto run = [as = request.as](const Plan& plan) {
    const SharedBytes memory(sizeof(pthread_barrier_t));
    auto* barrier = memory.at<pthread_barrier_t>();
    initialise(barrier, plan.ranks, as);
    return run_apart(plan, [&](std::span<RankLog> logs) {
      return run_ranks(plan, as, [&](std::uint32_t rank) {
        time_blocks(plan, logs[rank], [&] {
          const int ended = pthread_barrier_wait(barrier);
          return ended == 0 || ended == PTHREAD_BARRIER_SERIAL_THREAD;
        });
      });
    });
  };
  return {Contender{
      .name = request.as == As::processes ? "pthread_barrier, process-shared" : "pthread_barrier",
      .group = "pthread",
      .role = Role::peer,
      .as = request.as,
      .run = run}};
}

}  // namespace muster::bench
