#include "gpu/support.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

namespace muster::gpu_test {

namespace {

constexpr int most_lines = 10;  // of one case's failures
int failures_of_case = 0;

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

// Kernels that are compiled in little time keep on the stack what others have in registers: those
// of gpu_reduce more than the 1 KiB that CUDA gives a thread.
void give_stack() {
#if defined(MUSTER_TEST_STACK_BYTES)
  for (int device = 0; device < gpu_count(); ++device) {
    must(cudaSetDevice(device), "turning to a GPU");
    must(cudaDeviceSetLimit(cudaLimitStackSize, MUSTER_TEST_STACK_BYTES), "asking for stack");
  }
  must(cudaSetDevice(0), "turning to a GPU");
#endif
}

bool run_case(const char* program, const Case& one) {
  failures_of_case = 0;
  const auto begin = std::chrono::steady_clock::now();
  try {
    one.body();
  } catch (const std::exception& failure) {
    expect(false, "%s", failure.what());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%-7s %s.%s  (%.2f s)\n", failures_of_case == 0 ? "ok" : "FAILED", program,
              one.name.c_str(), took.count());
  std::fflush(stdout);
  return failures_of_case == 0;
}

}  // namespace

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

std::chrono::nanoseconds patience() {
  const char* const wish = std::getenv("MUSTER_TEST_DEADLINE");
  return std::chrono::seconds(wish != nullptr ? std::atoi(wish) : 3);
}

void expect(bool good, const char* format, ...) {
  if (good) return;
  if (++failures_of_case > most_lines) return;
  std::printf("    ");
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("%s\n", failures_of_case == most_lines ? " (and so on)" : "");
}

int run(const char* program, int argc, char** argv, const std::vector<Case>& cases,
        int least_gpus) {
  if (gpu_count() < least_gpus) {
    std::printf("SKIPPED: %s needs %d GPU(s), this machine shows %d\n", program, least_gpus,
                gpu_count());
    return 0;
  }
  give_stack();
  const std::set<std::string> wanted(argv + 1, argv + argc);
  int ran = 0;
  int failed = 0;
  for (const Case& one : cases) {
    if (!wanted.empty() && wanted.count(one.name) == 0) continue;
    ++ran;
    if (!run_case(program, one)) ++failed;
  }
  std::printf("%s: %d of %d cases passed\n", program, ran - failed, ran);
  if (ran == 0) std::printf("%s: no case has such a name\n", program);
  return failed == 0 && ran > 0 ? 0 : 1;
}

std::vector<std::vector<int>> placements(std::initializer_list<std::uint32_t> ranks) {
  std::vector<std::vector<int>> all;
  for (const std::uint32_t count : ranks) {
    all.emplace_back(count, 0);
    if (gpu_count() < 2 || count < 2) continue;
    std::vector<int> spread;
    for (std::uint32_t rank = 0; rank < count; ++rank) spread.push_back(2 * rank < count ? 0 : 1);
    all.push_back(spread);
  }
  return all;
}

std::string text_of(const std::vector<int>& devices) {
  std::string text;
  for (const int device : devices) text += (text.empty() ? "" : ",") + std::to_string(device);
  return "GPUs " + text;
}

void copy_to_host(void* to, const void* from, std::size_t bytes) {
  must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying to the host");
}

void copy_to_gpu(void* to, const void* from, std::size_t bytes) {
  must(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to a GPU");
  must(cudaDeviceSynchronize(), "copying to a GPU");
}

}  // namespace muster::gpu_test
