// In a CUDA kernel every rank sends a piece of a vector to its right neighbour, all meet, and each
// reads what came from the left: the same barrier and the same calls as on a host.
//
//   ring [RANKS]      default: one for each GPU, at least 2; ranks may share a GPU
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/fabric/gpu/world.hpp"

using namespace muster;

namespace {

constexpr std::uint32_t lanes = 4;
constexpr std::uint32_t threads = 256;
constexpr std::int64_t elements = std::int64_t{lanes} * threads;

// A lane is a block here. Lane k of a rank meets lane k of all others; lanes do not wait for each
// other.
__global__ void ring_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            WindowRef<float> inbox, WindowRef<float> sums) {
  gpu::Fabric<gpu::Block<threads>> fabric(handle);
  const Rank right = right_of(fabric);
  const Box piece{0, std::int64_t{fabric.lane().value} * threads, 1, threads};

  auto mine = fabric.tile<float, 1, threads>();
  mine.each([&](std::int64_t, std::int64_t col, float& element) {
    element = static_cast<float>(1000 * fabric.rank().value) + static_cast<float>(piece.col + col);
  });
  fabric.remote_store(mine, inbox, right, piece);

  // What the lane's threads have stored is deposited; what the left neighbour's have is here.
  if (barrier.sync(fabric) != WaitStatus::ok) return;

  auto theirs = fabric.tile<float, 1, threads>();
  fabric.load(theirs, inbox, piece);
  theirs.each([](std::int64_t, std::int64_t, float& element) { element += 0.5F; });
  fabric.store(theirs, sums, piece);
}

// Exits with what went wrong, in words.
template <class T>
T need(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "ring: %s\n", to_string(result.error()).c_str());
  std::exit(1);
}
void need(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "ring: %s\n", to_string(result.error()).c_str());
  std::exit(1);
}

std::vector<int> place(int ranks, int gpus) {
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank * gpus / ranks);
  return devices;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int most = gpu::near_ranks;
  char* rest = nullptr;
  auto ranks = argc > 1 ? static_cast<int>(std::strtol(argv[1], &rest, 10)) : 2;
  if (argc > 2 || (rest != nullptr && *rest != '\0') || ranks < 1 || ranks > most) {
    std::fprintf(stderr, "usage: ring [RANKS], 1 to %d\n", most);
    return 2;
  }
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("SKIPPED: there is no GPU\n");
    return 0;
  }
  if (argc == 1) ranks = std::clamp(gpus, 2, most);

  gpu::World world = need(gpu::World::create({.devices = place(ranks, gpus), .lanes = lanes}));
  const EpochBarrier barrier(world);
  const auto inbox = need(world.window<float>({elements}));
  const auto sums = need(world.window<float>({elements}));
  need(world.launch(ring_kernel, {.lanes = lanes, .threads = threads}, barrier, inbox, sums));
  need(world.synchronize());

  std::vector<float> found(elements);
  for (int rank = 0; rank < ranks; ++rank) {
    const Rank here{static_cast<std::uint32_t>(rank)};
    if (cudaMemcpy(found.data(), world.address(sums, here), elements * sizeof(float),
                   cudaMemcpyDefault) != cudaSuccess) {
      std::fprintf(stderr, "ring: copying from rank %d failed\n", rank);
      return 1;
    }
    const int left = (rank + ranks - 1) % ranks;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double golden = 1000.0 * left + static_cast<double>(i) + 0.5;
      if (static_cast<double>(found[i]) == golden) continue;
      std::fprintf(stderr, "ring: rank %d, element %zu is %g, not %g\n", rank, i,
                   static_cast<double>(found[i]), golden);
      return 1;
    }
  }
  std::printf("OK: %d ranks on %d GPUs\n", ranks, std::min(ranks, gpus));
  return 0;
}
