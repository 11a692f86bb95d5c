// Memory that somebody else allocated and shared: buffers, a signal pad as PyTorch's symmetric
// memory has it, and a zeroed buffer for other rows. FlipBarrier shares the pad with code that is
// not muster's, and leaves it zero.
#include <cuda_runtime_api.h>

#include <thread>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

constexpr std::uint64_t buffer_bytes = 4U << 20U;
constexpr std::uint64_t pad_bytes = 2048;
constexpr std::uint64_t cell_bytes = 64U << 10U;

// What the owner has: memory of each rank, on its GPU, zero.
struct Owner {
  explicit Owner(const std::vector<int>& devices) {
    for (const int device : devices) {
      must(cudaSetDevice(device), "turning to a GPU");
      for (const int other : devices) {
        if (other == device) continue;
        const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
        if (result == cudaErrorPeerAccessAlreadyEnabled)
          (void)cudaGetLastError();
        else
          must(result, "peer access");
      }
      buffers.push_back(allocate(buffer_bytes));
      pads.push_back(allocate(pad_bytes));
      cells.push_back(allocate(cell_bytes));
      must(cudaDeviceSynchronize(), "clearing");
    }
  }
  static void* allocate(std::uint64_t bytes) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes), "allocating");
    must(cudaMemset(memory, 0, bytes), "clearing");
    return memory;
  }
  ~Owner() {
    for (const auto* all : {&buffers, &pads, &cells})
      for (void* memory : *all) (void)cudaFree(memory);
  }
  std::vector<void*> buffers;
  std::vector<void*> pads;
  std::vector<void*> cells;
};

// Of two lanes: neither the first nor the last of the pad's 32.
constexpr PadChannel first_channel{29};

// A barrier that is not muster's, on the same pad: the protocol that PyTorch's symmetric memory
// uses. Each block signals the cell channel * world + rank of every peer, from 0 to 1, and takes
// back its own cells, from 1 to 0, by compare-and-swap of system scope.
__global__ void foreign_barrier_kernel(std::uint32_t* const* pads, std::uint32_t rank,
                                       std::uint32_t world, std::uint32_t channel) {
  const std::uint32_t row = (channel + blockIdx.x) * world;
  const std::uint32_t peer = threadIdx.x;
  if (peer >= world || peer == rank) return;
  using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;
  Word theirs(pads[peer][row + rank]);
  Word mine(pads[rank][row + peer]);
  std::uint32_t expected = 0;
  while (!theirs.compare_exchange_strong(expected, 1, cuda::memory_order_release,
                                         cuda::memory_order_relaxed))
    expected = 0;
  expected = 1;
  while (!mine.compare_exchange_strong(expected, 0, cuda::memory_order_acquire,
                                       cuda::memory_order_relaxed))
    expected = 1;
}

gpu::World attach(const Owner& owner, const std::vector<int>& devices, std::uint32_t rank) {
  return need(gpu::World::attach({.rank = Rank{rank},
                                  .device = devices[rank],
                                  .lanes = 2,
                                  .memory = {{owner.buffers, buffer_bytes},
                                             {owner.pads, pad_bytes},
                                             {owner.cells, cell_bytes}},
                                  .deadline = patience(),
                                  .verify = true}));
}

// A world of its own for each rank, as each process would have.
struct Attached {
  gpu::World world;
  FlipBarrier flip;
  EpochBarrier epoch;
  Exchange exchange;
};

Attached make_attached(const Owner& owner, const std::vector<int>& devices, std::uint32_t rank) {
  gpu::World world = attach(owner, devices, rank);
  const FlipBarrier flip(need(world.pad_rows(1, 32)), first_channel, 2);
  need(world.use_for_cells(2));
  const EpochBarrier epoch(world);
  Exchange exchange;
  exchange.inbox = need(world.window_in<std::uint32_t>(0, 4096, {2, 64 * world.size()}));
  exchange.verdict = need(world.window_in<std::uint32_t>(0, 0, {verdict_words}));
  exchange.rounds = 50;
  return {world, flip, epoch, exchange};
}

void pad_and_cells() {
  if (gpu_count() < 2) {
    std::printf("SKIPPED: attach.pad_and_cells needs 2 GPUs\n");
    return;
  }
  const std::vector<int> devices{0, 1};
  const Owner owner(devices);
  std::vector<Attached> ranks;
  std::vector<std::uint32_t**> pads_on_gpu;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    must(cudaSetDevice(devices[rank]), "turning to a GPU");
    ranks.push_back(make_attached(owner, devices, rank));
    void* pads = nullptr;
    must(cudaMalloc(&pads, 2 * sizeof(void*)), "allocating");
    copy_to_gpu(pads, owner.pads.data(), 2 * sizeof(void*));
    pads_on_gpu.push_back(static_cast<std::uint32_t**>(pads));
    const gpu::Shape shape{.lanes = 2, .threads = 64};
    need(ranks[rank].world.prepare(exchange_kernel<gpu::Block<64>, FlipBarrier>, shape));
    need(ranks[rank].world.prepare(exchange_kernel<gpu::Block<64>, EpochBarrier>, shape));
    cudaFuncAttributes attributes{};
    must(cudaFuncGetAttributes(&attributes, foreign_barrier_kernel), "loading a kernel");
  }
  constexpr std::uint32_t steps = 40;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Attached& one = ranks[rank];
      const gpu::Shape shape{.lanes = 2, .threads = 64};
      one.exchange.first_round = 2 * 50 * step;
      need(one.world.launch(exchange_kernel<gpu::Block<64>, FlipBarrier>, shape, one.flip,
                            one.exchange));
      must(cudaSetDevice(devices[rank]), "turning to a GPU");
      foreign_barrier_kernel<<<2, 32, 0, one.world.stream(0)>>>(pads_on_gpu[rank], rank, 2,
                                                                first_channel.value);
      must(cudaGetLastError(), "launching");
      one.exchange.first_round += 50;
      need(one.world.launch(exchange_kernel<gpu::Block<64>, EpochBarrier>, shape, one.epoch,
                            one.exchange));
    }
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    need(ranks[rank].world.synchronize());
    check_verdict(ranks[rank].world, ranks[rank].exchange, 2 * 2 * 50 * steps, "attached");
  }
  std::vector<std::uint32_t> pad(pad_bytes / 4);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    copy_to_host(pad.data(), owner.pads[rank], pad_bytes);
    for (std::size_t i = 0; i < pad.size(); ++i)
      expect(pad[i] == 0, "cell %zu of rank %u's pad is %u", i, rank, pad[i]);
    (void)cudaFree(pads_on_gpu[rank]);
  }
}

void refusals() {
  void* memory = Owner::allocate(4096);
  const auto attach_with = [](std::vector<gpu::Adopted> segments, std::uint32_t rank) {
    return gpu::World::attach({.rank = Rank{rank}, .device = 0, .memory = std::move(segments)});
  };
  const auto refused = [](const auto& result, const char* what) {
    expect(!result && (result.error().code == ErrorCode::invalid_argument ||
                       result.error().code == ErrorCode::out_of_memory),
           "%s: %s", what, result ? "no error" : to_string(result.error()).c_str());
  };
  refused(attach_with({}, 0), "no memory");
  refused(attach_with({{{memory}, 4096}}, 1), "a rank that is not there");
  refused(attach_with({{{memory}, 4096}, {{memory, memory}, 4096}}, 0), "segments of two teams");
  refused(attach_with({{{nullptr}, 4096}}, 0), "a null address");
  gpu::World world = need(attach_with({{{memory}, 4096}}, 0));
  refused(world.rows(), "rows without memory for cells");
  refused(world.window<float>({1}), "a window without memory");
  refused(world.window_in<float>(0, 4000, {100}), "a window past the end");
  refused(world.window_in<float>(0, 2, {1}), "a misaligned window");
  refused(world.window_in<float>(1, 0, {1}), "a segment that is not there");
  refused(world.pad_rows(0, 5000), "a pad that is too small");
  (void)cudaFree(memory);
}

}  // namespace

int main(int argc, char** argv) {
  return run("attach", argc, argv, {{"pad_and_cells", pad_and_cells}, {"refusals", refusals}});
}
