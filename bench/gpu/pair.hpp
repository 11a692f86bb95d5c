// Two ranks on two GPUs, and what is measured between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/loops.cuh"
#include "bench/gpu/session.hpp"

namespace muster::bench_gpu {

struct Pair {
  gpu::World world;
  WindowRef<std::uint64_t> nanoseconds;
  WindowRef<std::uint32_t> words;  // for contenders that are not muster's; 32 apart
  std::uint32_t next_word = 0;

  // A word of its own in each rank's memory.
  [[nodiscard]] Wires wires(Rank rank, std::uint32_t word) const {
    const Rank other{1 - rank.value};
    return {world.address(words, other) + word, world.address(words, rank) + word};
  }
  [[nodiscard]] std::uint32_t take_word() { return 32 * next_word++; }

  // Microseconds for one of the calls that rank 0's kernel has timed.
  [[nodiscard]] double timed_call() {
    need(world.sync());
    const std::uint64_t took = read_word(world.address(nanoseconds, Rank{0}));
    if (took == 0) throw Failure(Error{ErrorCode::expired, "a call of the barrier failed"});
    return static_cast<double>(took) / 1e3 / calls;
  }
};

[[nodiscard]] inline std::shared_ptr<Pair> make_pair() {
  gpu::World world = need(gpu::World::create({.devices = {0, 1},
                                              .lanes = 132,
                                              .bytes = 4U << 20U,
                                              .deadline = std::chrono::seconds(5),
                                              .verify = false}));
  const auto nanoseconds = need(world.window<std::uint64_t>({1}));
  const auto words = need(world.window<std::uint32_t>({32 * 256}));
  return std::make_shared<Pair>(Pair{world, nanoseconds, words, 0});
}

// Contenders of other systems, each in a file of its own, where they are built in.
void add_nccl(std::vector<Contender>& contenders);

}  // namespace muster::bench_gpu
