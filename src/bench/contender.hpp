// What `muster bench` measures: contenders of one topic (barrier, put, ...) on one fabric, run side
// by side. A topic is one directory that lists its contenders; a contender is one function.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "muster/result.hpp"

namespace muster::bench {

enum class As : std::uint8_t { processes, threads, gpus };

// What the user asked for.
struct Request {
  std::uint32_t ranks = 2;
  As as = As::processes;
  std::uint64_t bytes = 0;                // of a message, in topics that have sizes
  std::string variant{};                  // in topics that have variants
  std::vector<std::string> peers{};       // the groups of the peers to measure; the rest is not run
  std::vector<std::string> mpis{};        // where MPIs lie; empty: the one on the PATH
  std::vector<std::string> algorithms{};  // of a topic that has some; the rest is not run
  std::uint64_t calls = 0;   // in one timed block; 0: so many that a block takes `block`
  std::uint32_t repeat = 5;  // timed blocks in one run; at most max_blocks
  std::uint32_t rounds = 9;  // each runs every contender once
  std::chrono::nanoseconds block = std::chrono::milliseconds{20};
  std::chrono::milliseconds limit{60'000};  // for one run of one contender
};

inline constexpr std::uint32_t max_blocks = 64;

// One run of one contender.
struct Plan {
  std::uint32_t ranks = 2;
  std::uint64_t warm_up = 0;  // calls before the first block
  std::uint64_t calls = 1;    // in one block
  std::uint32_t repeat = 1;   // blocks
  std::vector<int> cores{};   // rank r is pinned to cores[r % cores.size()]
  std::chrono::milliseconds limit{60'000};
};

// What a contender is compared as.
enum class Role : std::uint8_t {
  floor,   // the least that the hardware asks for: no library, no fairness, spinning
  bare,    // the same job by hand, fit for more ranks than cores
  muster,  // what is measured
  peer,    // another library
};

// The time of each block in ns per call: the longest of all ranks.
using Blocks = std::vector<double>;

struct Contender {
  std::string name;
  std::string group{};      // what --peer calls it; empty where it is no peer
  std::string algorithm{};  // what --algorithm calls it; empty where the topic has none
  Role role = Role::muster;
  As as = As::processes;
  std::string why_not{};  // not empty: it cannot run here, and this says why
  std::function<Result<Blocks>(const Plan&)> run{};
};

using Sizes = std::vector<std::uint64_t>;

struct Topic {
  std::string name;    // the word after `muster bench`
  std::string fabric;  // the value of --fabric
  std::string unit;    // what one call is
  std::string summary;
  std::vector<std::string> peers;  // every group that --peer may name
  std::function<std::vector<Contender>(const Request&)> contenders;
  Sizes sizes{};  // in bytes: measured one after the other, a table each; empty: it has none
  std::uint64_t size_step = 4;            // --sizes are multiples of this,
  std::uint64_t most_size = 1ULL << 30U;  // and none is larger
  std::vector<std::string> variants{};    // a table each, of each size; empty: one
  std::vector<std::string> algorithms{};  // every one that --algorithm may name
  std::chrono::nanoseconds block = std::chrono::milliseconds{20};  // without --calls
  bool fixed_ranks = false;  // it has its own number of ranks, which are not threads
  // What it runs on where that is not the cores: "2 x NVIDIA H200". An error with the code
  // `unavailable`: nothing of it can be measured here.
  std::function<Result<std::string>()> devices{};
};

// The topic's contenders, without the peers and the algorithms that the request does not name.
[[nodiscard]] std::vector<Contender> contenders_of(const Topic& topic, const Request& request);

// Every topic of this build. A new one is added here and nowhere else (topics.cpp).
[[nodiscard]] const std::vector<Topic>& topics();

}  // namespace muster::bench
