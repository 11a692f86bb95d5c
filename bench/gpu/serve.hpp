// A program that measures when `muster bench` asks it to: the other end of src/bench/program.hpp,
// which says what is asked and answered. For programs of any library: nothing of CUDA's here.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace muster::bench_gpu {

// One thing that is measured.
struct Contender {
  std::string role;  // floor, bare, muster, peer
  std::string peer;  // what --peer calls it; empty where it is no peer
  std::string name;
  // Makes `calls` calls, or a few more, and returns nanoseconds for one. Throws where that fails.
  std::function<double(std::uint32_t calls)> measure;
  std::string why_not{};  // not empty: it cannot run here
};

// One table.
struct Wanted {
  std::string topic;
  std::uint64_t bytes = 0;  // 0: the topic has no sizes
  std::string variant;
};

// Nothing can be measured here; the text says why.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Server {
  std::function<std::string()> devices;  // what it runs on; may throw Unavailable, as `list`
  std::function<std::vector<Contender>(const Wanted&)> list;
};

// Answers until stdin ends; the exit status. What else is written to stdout goes to stderr.
int serve(const Server& server);

}  // namespace muster::bench_gpu
