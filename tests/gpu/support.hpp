// What the GPU test programs share: they are plain programs, so that they can be copied to a
// machine with a GPU and run there.
//
//   int main() { return muster::gpu_test::run("name", {{"case", [] { ... }}, ...}); }
//
// Exit codes: 0 passed, or skipped with a line that starts with "SKIPPED: "; 1 failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "muster/fabric/gpu/world.hpp"

namespace muster::gpu_test {

struct Case {
  std::string name;
  std::function<void()> body;
};

// Runs the cases that the command line names, or all; `least_gpus` fewer GPUs than that: skipped.
int run(const char* program, int argc, char** argv, const std::vector<Case>& cases,
        int least_gpus = 1);

[[nodiscard]] int gpu_count();

// Of waits that should succeed: a few seconds, or MUSTER_TEST_DEADLINE seconds where tools slow the
// kernels down.
[[nodiscard]] std::chrono::nanoseconds patience();

// Notes a failure of the running case, with printf's arguments; the case goes on.
[[gnu::format(printf, 2, 3)]] void expect(bool good, const char* format, ...);

// The value, or a failed case that ends here.
template <class T>
T need(Result<T> result) {
  if (!result) throw Failure(result.error());
  return std::move(result).value();
}
inline void need(Result<void> result) {
  if (!result) throw Failure(result.error());
}

// The GPU of each rank, in the ways that are worth a try here: `ranks` on one GPU, and spread over
// two where there are two.
[[nodiscard]] std::vector<std::vector<int>> placements(std::initializer_list<std::uint32_t> ranks);
[[nodiscard]] std::string text_of(const std::vector<int>& devices);

// The content of a window on a rank; and the other way round.
template <class T>
std::vector<T> fetch(const gpu::World& world, WindowRef<T> window, Rank rank);
template <class T>
void place(const gpu::World& world, WindowRef<T> window, Rank rank, const std::vector<T>& values);

void copy_to_host(void* to, const void* from, std::size_t bytes);
void copy_to_gpu(void* to, const void* from, std::size_t bytes);

template <class T>
std::vector<T> fetch(const gpu::World& world, WindowRef<T> window, Rank rank) {
  std::vector<T> values(static_cast<std::size_t>(window.size()));
  copy_to_host(values.data(), world.address(window, rank), values.size() * sizeof(T));
  return values;
}

template <class T>
void place(const gpu::World& world, WindowRef<T> window, Rank rank, const std::vector<T>& values) {
  copy_to_gpu(world.address(window, rank), values.data(), values.size() * sizeof(T));
}

}  // namespace muster::gpu_test
