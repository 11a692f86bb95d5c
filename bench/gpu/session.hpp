// What the GPU benchmarks share: contenders that are measured in turn, medians, ratios, a table and
// a JSON file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "muster/fabric/gpu/world.hpp"

namespace muster::bench_gpu {

// One thing that is measured. `measure` runs it once, warm, and returns microseconds for one call.
struct Contender {
  std::string name;
  std::string group;     // ratios are taken within a group
  std::string baseline;  // to which contender of the group; empty: none
  std::function<double()> measure;
  double bytes = 0;  // moved by a call; where it is not 0, the table shows a rate, too
};

struct Options {
  std::string json;  // file, or empty
  int samples = 9;
};

// From the command line: [--json FILE] [--samples N]. Prints what is wrong and exits with 2.
[[nodiscard]] Options parse(int argc, char** argv);

// Measures all contenders in turn, `samples` times after one warm-up, and reports. Exit status.
int report(const char* topic, const std::vector<Contender>& contenders, const Options& options);

[[nodiscard]] int gpu_count();

// A timer in a stream of the current GPU.
class StreamTimer {
 public:
  StreamTimer();
  ~StreamTimer();
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;
  void start(gpu::Stream stream);
  void stop(gpu::Stream stream);
  [[nodiscard]] double microseconds();  // waits for stop

 private:
  struct Events;
  Events* events_;
};

template <class T>
T need(Result<T> result) {
  if (!result) throw Failure(result.error());
  return std::move(result).value();
}
inline void need(Result<void> result) {
  if (!result) throw Failure(result.error());
}

[[nodiscard]] std::uint64_t read_word(const std::uint64_t* on_gpu);

}  // namespace muster::bench_gpu
