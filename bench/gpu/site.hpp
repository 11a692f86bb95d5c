// What the topics of muster-bench-gpu share: two ranks on two GPUs, their memory, timers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/loops.cuh"
#include "bench/gpu/serve.hpp"
#include "muster/fabric/gpu/world.hpp"

namespace muster::bench_gpu {

template <class T>
T need(Result<T> result) {
  if (!result) throw Failure(result.error());
  return std::move(result).value();
}
inline void need(Result<void> result) {
  if (!result) throw Failure(result.error());
}
void must(cudaError_t result, const char* doing);  // throws Failure

[[nodiscard]] int gpu_count();
void need_gpus(int count);  // throws Unavailable

// Ranks on GPUs, and what is measured between them.
struct Site {
  gpu::World world;
  WindowRef<std::uint64_t> nanoseconds;  // of the calls that rank 0's kernel has timed
  WindowRef<std::uint32_t> words;        // for contenders that are not muster's; 32 apart
  std::uint32_t next_word = 0;

  // Words of its own in both memories, for a contender between two ranks.
  [[nodiscard]] std::uint32_t take_word() { return 32 * next_word++; }
  [[nodiscard]] Wires wires(Rank rank, std::uint32_t word) const {
    const Rank other{1 - rank.value};
    return {world.address(words, other) + word, world.address(words, rank) + word};
  }

  // Where a kernel that is not muster's leaves the time of `calls` calls.
  [[nodiscard]] Timing timing(Rank rank, std::uint32_t calls) const {
    return {world.address(nanoseconds, rank), calls};
  }
  // Waits for the kernels and returns nanoseconds for one call.
  [[nodiscard]] double timed_call(std::uint32_t calls);

  // A kernel that is not muster's, on each GPU: launch(rank, stream) starts it.
  template <class Launch>
  void on_each(Launch launch) {
    for (std::uint32_t rank = 0; rank < world.groups(); ++rank) {
      must(cudaSetDevice(world.device(rank)), "turning to a GPU");
      launch(Rank{rank}, world.stream(rank));
      must(cudaGetLastError(), "launching");
    }
  }
};
using Kept = std::shared_ptr<Site>;

// One rank on each of `gpus` GPUs, with `bytes` for windows beyond the site's own.
[[nodiscard]] Kept make_site(int gpus, std::uint64_t bytes = 4U << 20U);

// Contenders of one topic each; `bytes` and `variant` of the table.
[[nodiscard]] std::vector<Contender> barriers(const std::string& variant);
[[nodiscard]] std::vector<Contender> barriers_in_graph();
[[nodiscard]] std::vector<Contender> notifies(const std::string& variant);
[[nodiscard]] std::vector<Contender> puts(std::uint64_t bytes, const std::string& variant);
[[nodiscard]] std::vector<Contender> gets(std::uint64_t bytes, const std::string& variant);
[[nodiscard]] std::vector<Contender> packets(std::uint64_t bytes, const std::string& variant);
[[nodiscard]] std::vector<Contender> grids(const std::string& variant);

}  // namespace muster::bench_gpu
