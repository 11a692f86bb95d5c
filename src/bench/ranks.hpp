// Runs one contender on its own: a process group of its own that a deadline ends, ranks pinned to
// cores, times in memory that the bench shares with them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "muster/result.hpp"

namespace muster::bench {

// What one rank reports. Read by the bench after every writer has ended.
struct RankLog {
  std::uint64_t ends = 0;  // blocks that are complete
  std::array<double, max_blocks> ns{};
};

// Zeroed memory shared with every process forked afterwards.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t bytes);  // throws Failure where there is no memory
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  template <class T>
  [[nodiscard]] T* at(std::size_t index = 0) const {
    return static_cast<T*>(data_) + index;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// The bench starts its own ranks, also where it is itself one of somebody's: forget them.
void forget_launcher();

// Pins the calling thread as the plan says; not at all where it names no cores.
void pin(const Plan& plan, std::uint32_t rank);

// In a process group of its own: runs child(logs), one log per rank, and returns the blocks.
// Errors: the child ended with another status than 0 (with the last line it wrote to stderr), it
// did not end within plan.limit (expired; the group is killed), or a rank reported too few blocks.
[[nodiscard]] Result<Blocks> run_apart(const Plan& plan,
                                       const std::function<int(std::span<RankLog>)>& child);

// Within run_apart: body(rank) on pinned ranks, which are forked or threads; returns when all have
// ended, with 0 if all went well.
int run_ranks(const Plan& plan, As as, const std::function<void(std::uint32_t rank)>& body);

// Starts a program in a process group of its own and returns what it wrote to stdout. Errors as
// run_apart's.
[[nodiscard]] Result<std::string> run_program(const std::vector<std::string>& command,
                                              std::chrono::milliseconds limit);

// The timed loop of every contender. `meet()` is one call; it returns false to give up. A template,
// so that what is measured is inlined into its loop exactly as in a user's program.
template <class Meet>
bool time_blocks(const Plan& plan, RankLog& log, Meet&& meet) {
  using Clock = std::chrono::steady_clock;
  for (std::uint64_t call = 0; call < plan.warm_up; ++call)
    if (!meet()) return false;
  for (std::uint32_t block = 0; block < plan.repeat; ++block) {
    const auto begin = Clock::now();
    for (std::uint64_t call = 0; call < plan.calls; ++call)
      if (!meet()) return false;
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    log.ns[block] = took.count() / static_cast<double>(plan.calls);
    log.ends = block + 1;
  }
  return true;
}

}  // namespace muster::bench
