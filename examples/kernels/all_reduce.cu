// Sums a vector of float16 over all ranks, in place, twice, on another number of lanes each time,
// and compares each element with the sum.
//
//   all_reduce [RANKS [COUNT]]      default: 2 ranks, which may share a GPU, and 100001 elements
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "all_reduce.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/fabric/gpu/world.hpp"

using namespace muster;

namespace {

constexpr std::uint32_t lanes = 4;
constexpr std::uint32_t threads = 256;
using Sums = example::AllReduce<std::int64_t{threads} * 8>;  // 16 bytes a thread

__global__ void sum_kernel(const __grid_constant__ gpu::Handle handle, Sums sums,
                           WindowRef<float16> data) {
  gpu::Fabric<gpu::Block<threads>> fabric(handle);
  // By pointer, as a kernel's own memory: its peers do not look at it.
  (void)sums.sum(fabric, MemoryRef<float16>{fabric.local(data).data(), 1, data.cols});
}

// Exits with what went wrong, in words.
template <class T>
T need(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "all_reduce: %s\n", to_string(result.error()).c_str());
  std::exit(1);
}
void need(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "all_reduce: %s\n", to_string(result.error()).c_str());
  std::exit(1);
}
void need(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "all_reduce: %s\n", cudaGetErrorString(result));
  std::exit(1);
}

// Small integers: float16 holds their sums exactly.
float value(int rank, std::int64_t at) {
  return static_cast<float>((at * 7 + rank * 3) % 11);
}

long number(int argc, char** argv, int at, long otherwise, long most) {
  if (argc <= at) return otherwise;
  char* rest = nullptr;
  const long parsed = std::strtol(argv[at], &rest, 10);
  if (*argv[at] != '\0' && *rest == '\0' && parsed >= 1 && parsed <= most) return parsed;
  std::fprintf(stderr, "usage: all_reduce [RANKS [COUNT]], 1 to %d ranks and 1 to 1000000000\n",
               gpu::near_ranks);
  std::exit(2);
}

// Every element of every rank is `expected(at)`.
template <class Expected>
bool all_are(const gpu::World& world, WindowRef<float16> data, const Expected& expected) {
  std::vector<float16> found(static_cast<std::size_t>(data.cols));
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    need(cudaMemcpy(found.data(), world.address(data, Rank{rank}), found.size() * sizeof(float16),
                    cudaMemcpyDefault));
    for (std::int64_t at = 0; at < data.cols; ++at) {
      const auto seen = static_cast<float>(found[static_cast<std::size_t>(at)]);
      if (seen == expected(at)) continue;
      std::fprintf(stderr, "all_reduce: rank %u, element %lld is %g, not %g\n", rank,
                   static_cast<long long>(at), static_cast<double>(seen),
                   static_cast<double>(expected(at)));
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = static_cast<int>(number(argc, argv, 1, 2, gpu::near_ranks));
  const std::int64_t count = number(argc, argv, 2, 100'001, 1'000'000'000);
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("SKIPPED: there is no GPU\n");
    return 0;
  }
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank * std::min(gpus, ranks) / ranks);
  gpu::World world = need(gpu::World::create(
      {.devices = devices, .lanes = lanes, .bytes = (64ULL << 20U) + 2 * std::uint64_t(count)}));
  const Sums sums(world);
  const auto data = need(world.window<float16>({count}));
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<float16> all;
    for (std::int64_t at = 0; at < count; ++at)
      all.push_back(static_cast<float16>(value(rank, at)));
    need(cudaMemcpy(world.address(data, Rank{static_cast<std::uint32_t>(rank)}), all.data(),
                    all.size() * sizeof(float16), cudaMemcpyDefault));
  }
  // The second call has what the first made: each element is added to itself once for each rank.
  need(world.launch(sum_kernel, {.lanes = lanes, .threads = threads}, sums, data));
  need(world.launch(sum_kernel, {.lanes = lanes - 1, .threads = threads}, sums, data));
  need(world.synchronize());
  const auto expected = [&](std::int64_t at) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += value(rank, at);
    return sum * static_cast<float>(ranks);
  };
  if (!all_are(world, data, expected)) return 1;
  std::printf("OK: %d ranks on %d GPUs, %lld elements\n", ranks, std::min(ranks, gpus),
              static_cast<long long>(count));
  return 0;
}
