// Launching exchange_kernel and reading its verdict.
#pragma once

#include <string>

#include "gpu/exchange.cuh"
#include "gpu/support.hpp"

namespace muster::gpu_test {

inline Exchange make_exchange(gpu::World& world, std::uint32_t lanes, std::uint32_t threads,
                              std::uint32_t rounds) {
  Exchange exchange;
  exchange.inbox = need(world.window<std::uint32_t>({lanes, std::int64_t{world.size()} * threads}));
  exchange.verdict = need(world.window<std::uint32_t>({verdict_words}));
  exchange.rounds = rounds;
  return exchange;
}

// `calls` counts the rounds that all lanes of a rank must have made since the world was new.
inline void check_verdict(const gpu::World& world, const Exchange& exchange, std::uint64_t calls,
                          const std::string& what) {
  for (std::uint32_t group = 0; group < world.groups(); ++group) {
    for (std::uint32_t i = 0; i < world.ranks_of(group); ++i) {
      const Rank rank{world.first_rank(group).value + i};
      const auto verdict = fetch(world, exchange.verdict, rank);
      expect(verdict[0] == 0, "%s: rank %u found %u wrong stamps, one in round %u: %x, not %x",
             what.c_str(), rank.value, verdict[0], verdict[1], verdict[2], verdict[3]);
      expect(verdict[4] == 0, "%s: %u calls of rank %u failed", what.c_str(), verdict[4],
             rank.value);
      expect(verdict[5] == static_cast<std::uint32_t>(calls),
             "%s: rank %u made %u rounds, not %llu", what.c_str(), rank.value, verdict[5],
             static_cast<unsigned long long>(calls));
    }
  }
}

}  // namespace muster::gpu_test
