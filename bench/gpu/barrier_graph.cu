// One barrier for each kernel, 500 kernels in a graph: what a barrier costs that stands alone.
#include "bench/gpu/graphs.hpp"

namespace muster::bench_gpu {

namespace {

__global__ void empty_kernel(std::uint32_t* word) {
  if (word == nullptr) __trap();
}

__global__ void empty_handle_kernel(const __grid_constant__ gpu::Handle handle) {
  if (handle.ranks == 0) __trap();
}

// The least that a barrier of release and acquire needs when it stands alone: its epoch is in
// memory.
__global__ void bare_kernel(Wires wires, std::uint32_t* epoch) {
  if (threadIdx.x != 0) return;
  const std::uint32_t value = *epoch + 1;
  Word(*wires.theirs).store(value, cuda::memory_order_release);
  wait_for<true>(wires, value);
  *epoch = value;
}

__global__ void swap_kernel(Wires wires) {
  if (threadIdx.x == 0) swap_words<true>(wires);
  __syncthreads();
}

template <class Coop, class Barrier>
__global__ void barrier_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier) {
  gpu::Fabric<Coop> fabric(handle);
  (void)barrier.sync(fabric);
}

template <class Coop, class Barrier>
Contender of_muster(const Kept& site, const std::string& name, std::uint32_t threads) {
  const Barrier barrier(need(site->world.rows(1)));
  const gpu::Shape shape{.lanes = 1, .threads = threads};
  const auto kernel = barrier_kernel<Coop, Barrier>;
  need(site->world.prepare(kernel, shape));
  return in_graph(site, "muster", "", name, {}, [=](Rank rank, gpu::Stream stream) {
    need(site->world.launch_on(rank.value, stream, kernel, shape, barrier));
  });
}

}  // namespace

std::vector<Contender> barriers_in_graph() {
  const Kept site = make_site(2);
  const std::uint32_t bare_word = site->take_word();
  const std::uint32_t epoch_word = site->take_word();
  const std::uint32_t swap_word = site->take_word();
  std::vector<Contender> all;
  all.push_back(in_graph(site, "floor", "", "empty kernel", {}, [=](Rank rank, gpu::Stream stream) {
    empty_kernel<<<1, 32, 0, stream>>>(site->wires(rank, 0).mine);
  }));
  all.push_back(in_graph(site, "muster", "", "empty kernel with a handle", {},
                         [=, handle = site->world.handle(0)](Rank, gpu::Stream stream) {
                           empty_handle_kernel<<<1, 32, 0, stream>>>(handle);
                         }));
  all.push_back(in_graph(site, "bare", "", "bare epochs", {}, [=](Rank rank, gpu::Stream stream) {
    bare_kernel<<<1, 32, 0, stream>>>(site->wires(rank, bare_word),
                                      site->wires(rank, epoch_word).mine);
  }));
  all.push_back(of_muster<gpu::Warp, EpochBarrier>(site, "EpochBarrier", 32));
  all.push_back(of_muster<gpu::Block<256>, EpochBarrier>(site, "EpochBarrier, 256 threads", 256));
  all.push_back(of_muster<gpu::Warp, DisseminationBarrier>(site, "DisseminationBarrier", 32));
  all.push_back(of_muster<gpu::Warp, FlipBarrier>(site, "FlipBarrier", 32));
  all.push_back(in_graph(site, "peer", "cas", "compare-and-swap barrier", {},
                         [=](Rank rank, gpu::Stream stream) {
                           swap_kernel<<<1, 32, 0, stream>>>(site->wires(rank, swap_word));
                         }));
  return all;
}

}  // namespace muster::bench_gpu
