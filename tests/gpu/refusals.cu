// What every kernel refuses, also one that was compiled without checks: a launch that does not fit
// its fabric. The GPU stays usable after each.
#include <cuda_runtime_api.h>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

static_assert(!gpu::checks_compiled, "this is about kernels without checks");

void expect_works(gpu::World& world, const std::string& what) {
  const EpochBarrier barrier(need(world.rows()));
  Exchange exchange = make_exchange(world, 2, 64, 20);
  need(world.launch(exchange_kernel<gpu::Block<64>, EpochBarrier>, {.lanes = 2, .threads = 64},
                    barrier, exchange));
  need(world.synchronize());
  check_verdict(world, exchange, 40, what + ", afterwards");
}

// The error names all words; then the world works again.
void expect_refused(gpu::World& world, const std::string& what,
                    const std::vector<std::string>& words) {
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::invalid_argument, "%s: %s", what.c_str(),
         end ? "no error" : to_string(end.error()).c_str());
  if (end) return;
  std::printf("    %s: %s\n", what.c_str(), to_string(end.error()).c_str());
  for (const std::string& word : words)
    expect(end.error().what.find(word) != std::string::npos, "%s: no word of %s", what.c_str(),
           word.c_str());
  need(world.reset());
  expect_works(world, what);
}

gpu::World make_world() {
  return need(gpu::World::create({.devices = {0, 0}, .lanes = 4, .deadline = patience()}));
}

// ---- threads

template <class Coop>
__global__ void fill_kernel(const __grid_constant__ gpu::Handle handle, Coop coop,
                            WindowRef<float> to) {
  gpu::Fabric<Coop> fabric(handle, coop);
  auto tile = fabric.template tile<float, 1, 256>();
  tile.each([](std::int64_t, std::int64_t col, float& value) { value = float(col) + 1; });
  fabric.store(tile, to, Box{0, 0, 1, 256});
  fabric.converge();
}

template <class Coop>
void expect_threads(const std::string& what, Coop coop, std::uint32_t threads, bool fits,
                    const std::vector<std::string>& words = {}) {
  gpu::World world = make_world();
  const auto to = need(world.window<float>({256}));
  need(world.launch(fill_kernel<Coop>, {.lanes = 1, .threads = threads}, coop, to));
  if (!fits) {
    expect_refused(world, what, words);
    return;
  }
  need(world.synchronize());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::vector<float> found = fetch(world, to, Rank{rank});
    for (std::size_t i = 0; i < found.size(); ++i)
      expect(found[i] == float(i) + 1, "%s: element %zu is %g", what.c_str(), i, found[i]);
  }
}

void threads() {
  expect_threads("Block<256> of 128", gpu::Block<256>{}, 128, false,
                 {"the threads 0 to 255", "gave the block 128"});
  expect_threads("Block<64> of 128", gpu::Block<64>{}, 128, false,
                 {"the threads 0 to 63", "gave the block 128"});
  expect_threads("Block<32> of 1024", gpu::Block<32>{}, 1024, false, {"gave the block 1024"});
  expect_threads("Block<96> of 65", gpu::Block<96>{}, 65, false, {"gave the block 65"});
  expect_threads("Warp of 16", gpu::Warp{}, 16, false, {"the threads 0 to 31", "block 16"});
  expect_threads("Warp of 48", gpu::Warp{}, 48, false, {"the threads 32 to 63", "block 48"});
  expect_threads("Warps<4> from 2 on of 128", gpu::Warps<4>{2, 1}, 128, false,
                 {"the threads 64 to 191", "gave the block 128"});
  expect_threads("Warps<2> of 96, by all", gpu::Warps<2>{0, 1}, 96, false,
                 {"the threads 0 to 63", "gave the block 96"});
  expect_threads("Warps<2> at barrier 0", gpu::Warps<2>{0, 0}, 64, false, {"named barrier 0"});
  expect_threads("Warps<2> at barrier 16", gpu::Warps<2>{0, 16}, 64, false, {"named barrier 16"});
  expect_threads("Block<256> of 256", gpu::Block<256>{}, 256, true);
  expect_threads("Block<> of 160", gpu::Block<>{}, 160, true);
  expect_threads("Block<> of 16", gpu::Block<>{}, 16, false, {"a lane of 16 threads", "32"});
  expect_threads("Warps<2> of 64", gpu::Warps<2>{0, 15}, 64, true);
  expect_threads("Warp of 64", gpu::Warp{}, 64, true);
}

// ---- the grid

__global__ void meet_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            WindowRef<std::uint32_t> met) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  if (barrier.sync(fabric) == WaitStatus::ok && fabric.thread() == 0) ++fabric.local(met)[0];
}

void grids() {
  gpu::World world = make_world();
  const EpochBarrier barrier(need(world.rows()));
  const auto met = need(world.window<std::uint32_t>({1}));
  for (const unsigned blocks : {1U, 3U, 5U}) {  // of two ranks
    const std::string text = std::to_string(blocks) + " blocks";
    meet_kernel<<<blocks, 64>>>(world.handle(0), barrier, met);
    expect(cudaDeviceSynchronize() == cudaSuccess, "the context is unusable");
    expect_refused(world, text, {"a grid of " + text, "2 ranks"});
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    expect(fetch(world, met, Rank{rank})[0] == 0, "a lane of rank %u went on", rank);
}

}  // namespace

int main(int argc, char** argv) {
  return run("refusals", argc, argv, {{"threads", threads}, {"grids", grids}});
}
