// Rectangles whose far end is plain memory of the rank, and whose extents a kernel learns when it
// runs, by both paths, into poisoned memory.
#include "gpu/support.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/transfer.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::int64_t rows = 23;
constexpr std::int64_t cols = 31;
constexpr Region fixed{.to = {3, 2}, .from = {5, 4}, .rows = 13, .cols = 19};

using Window = WindowRef<float>;
using Memory = MemoryRef<float>;

struct Work {
  Transfer<Window, MemoryRef<const float>> put;  // from plain memory, whose address a rank knows
  Transfer<Memory, Window> get;
  DynamicTransfer<Window, Window> vary;
  Window source;   // its own part of it is the plain memory that is put
  Window plain;    // and of this the one that is got
  Window extents;  // of the dynamic transfer: rows, cols
  Path path;
};

template <class Coop>
__global__ void work_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            Work work) {
  gpu::Fabric<Coop> fabric(handle);
  const Rank right = right_of(fabric);
  auto put_one = work.put;
  put_one.from.data = fabric.local(work.source).data();
  put(fabric, put_one, right, work.path);
  auto get_one = work.get;
  get_one.to.data = fabric.local(work.plain).data();
  (void)get(fabric, get_one, right, work.path);
  const auto extents = fabric.local(work.extents);
  const auto vary =
      work.vary.sized(static_cast<std::int64_t>(extents[0]), static_cast<std::int64_t>(extents[1]));
  put(fabric, vary, right);
  (void)barrier.sync(fabric);
}

float value(std::uint32_t window, std::uint32_t rank, std::int64_t at) {
  return static_cast<float>(window * 100'000 + rank * 10'000) + static_cast<float>(at);
}

// The region of `target` (window number `window`) has what is in the source of `from`; the rest is
// as it was.
void check(const gpu::World& world, const std::string& what, Window target, std::uint32_t window,
           Rank rank, Rank from, const Region& region) {
  const std::vector<float> found = fetch(world, target, rank);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) {
      const std::int64_t i = row - region.to.row;
      const std::int64_t j = col - region.to.col;
      const bool moved = i >= 0 && i < region.rows && j >= 0 && j < region.cols;
      const float wanted =
          moved ? value(0, from.value, (region.from.row + i) * cols + region.from.col + j)
                : value(window, rank.value, row * cols + col);
      if (found[static_cast<std::size_t>(row * cols + col)] == wanted) continue;
      expect(false, "%s, window %u of rank %u: row %lld, column %lld is %g, not %g", what.c_str(),
             window, rank.value, static_cast<long long>(row), static_cast<long long>(col),
             static_cast<double>(found[static_cast<std::size_t>(row * cols + col)]),
             static_cast<double>(wanted));
      return;
    }
}

template <class Coop>
void regions(const std::vector<int>& devices, std::uint32_t threads, Path path,
             const Chunks& chunks, float vary_rows, float vary_cols) {
  gpu::World world = need(gpu::World::create({.devices = devices,
                                              .lanes = 1,
                                              .bytes = 1U << 20U,
                                              .deadline = patience(),
                                              .verify = true}));
  const EpochBarrier barrier(world);
  Window window[4];  // source, put, got, vary
  for (std::uint32_t i = 0; i < 4; ++i) {
    window[i] = need(world.window<float>({rows, cols}));
    for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
      std::vector<float> all;
      for (std::int64_t at = 0; at < rows * cols; ++at) all.push_back(value(i, rank, at));
      place(world, window[i], Rank{rank}, all);
    }
  }
  const Window extents = need(world.window<float>({2}));
  for (std::uint32_t rank = 0; rank < world.size(); ++rank)
    place(world, extents, Rank{rank}, {vary_rows, vary_cols});
  const MemoryRef<const float> from{nullptr, rows, cols};
  const Memory to{nullptr, rows, cols};
  const Region varying{.to = fixed.to, .from = fixed.from, .rows = dynamic, .cols = dynamic};
  const Chunks bounded{.chunk_rows = 4, .chunk_cols = 7, .pipeline = chunks.pipeline};
  const Work work{need(make_transfer(window[1], from, fixed, chunks)),
                  need(make_transfer(to, window[0], fixed, chunks)),
                  need(make_dynamic_transfer(window[3], window[0], varying, bounded)),
                  window[0],
                  window[2],
                  extents,
                  path};
  need(world.launch(work_kernel<Coop>, {.lanes = 1, .threads = threads}, barrier, work));
  need(world.synchronize());

  const std::string what = text_of(devices) + ", lanes of " + std::to_string(threads);
  const auto room = [](float wish, std::int64_t most) {
    const auto extent = static_cast<std::int64_t>(wish);
    return extent < 0 ? 0 : extent < most ? extent : most;
  };
  Region varied = fixed;
  varied.rows = room(vary_rows, rows - fixed.from.row);
  varied.cols = room(vary_cols, cols - fixed.from.col);
  for (std::uint32_t r = 0; r < world.size(); ++r) {
    const Rank rank{r};
    const Rank left{(r + world.size() - 1) % world.size()};
    const Rank right{(r + 1) % world.size()};
    check(world, what + ", put from plain memory", window[1], 1, rank, left, fixed);
    check(world, what + ", get into plain memory", window[2], 2, rank, right, fixed);
    check(world, what + ", extents known late", window[3], 3, rank, left, varied);
  }
}

template <class Coop>
void all_of(std::uint32_t threads) {
  for (const auto& devices : placements({1, 2, 3}))
    for (const Path path : {Path::automatic, Path::staged}) {
      regions<Coop>(devices, threads, path, {}, 9, 11);
      regions<Coop>(devices, threads, path, {.chunk_rows = 4, .chunk_cols = 6, .pipeline = true}, 0,
                    5);
      regions<Coop>(devices, threads, path, {.chunk_rows = 1, .chunk_cols = 100}, 1000, -1);
      regions<Coop>(devices, threads, path, {.chunk_rows = 5}, 1000, 1000);
    }
}

}  // namespace

int main(int argc, char** argv) {
  return run("regions", argc, argv,
             {{"of_a_warp", [] { all_of<gpu::Warp>(32); }},
              {"of_a_block", [] { all_of<gpu::Block<>>(96); }}});
}
