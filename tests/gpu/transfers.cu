// put, get, tiles and remote_add against what the host computes: fresh random data, poisoned
// targets, every alignment, ragged tails, all element types.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "gpu/support.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/half.hpp"
#include "muster/packet.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

std::mt19937_64 random_source(20260101);

gpu::World make_world(const std::vector<int>& devices) {
  return need(gpu::World::create({.devices = devices,
                                  .lanes = 4,
                                  .bytes = 64U << 20U,
                                  .deadline = patience(),
                                  .verify = true}));
}

// ---- runs of bytes

struct Run {
  std::int64_t to;
  std::int64_t from;
  std::int64_t count;
};

enum class Way { put, put_async, put_signal, get, get_async };

template <class Coop>
__global__ void run_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                           Signals signals, WindowRef<std::uint8_t> target,
                           WindowRef<std::uint8_t> source, Run run, Way way, std::uint32_t step) {
  gpu::Fabric<Coop> fabric(handle);
  const Rank right = right_of(fabric);
  WaitStatus status = WaitStatus::ok;
  switch (way) {
    case Way::put: fabric.put(target, right, run.to, source, run.from, run.count); break;
    case Way::put_async:
      fabric.put_async(target, right, run.to, source, run.from, run.count);
      (void)fabric.flush();
      break;
    case Way::put_signal:
      fabric.put_signal(target, right, run.to, source, run.from, run.count, signals[0], step,
                        NotifyOp::set);
      if (fabric.thread() == 0) status = fabric.wait(signals[0], Compare::ge, step);
      break;
    case Way::get: (void)fabric.get(target, run.to, source, right, run.from, run.count); break;
    case Way::get_async:
      fabric.get_async(target, run.to, source, right, run.from, run.count);
      (void)fabric.flush();
      break;
  }
  (void)fabric.converge(status);
  (void)barrier.sync(fabric);
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_source());
  return bytes;
}

std::vector<Run> make_runs(std::int64_t size) {
  std::vector<Run> runs{{0, 0, 0},    {0, 0, 1},        {1, 0, 1},
                        {0, 0, size}, {1, 1, size - 1}, {3, 0, size - 3}};
  for (std::int64_t skew = 0; skew < 16; ++skew) runs.push_back({skew, 16 - skew, 4099});
  for (int i = 0; i < 40; ++i) {
    const auto draw = [](std::int64_t below) {
      return static_cast<std::int64_t>(random_source() % static_cast<std::uint64_t>(below));
    };
    const std::int64_t count = draw(i % 2 == 0 ? 200 : size / 2);
    runs.push_back({draw(size - count), draw(size - count), count});
  }
  return runs;
}

template <class Coop>
void runs_of(std::uint32_t threads, std::int64_t size) {
  for (const auto& devices : placements({2, 3})) {
    gpu::World world = make_world(devices);
    const EpochBarrier barrier(world);
    const Signals signals = need(world.signals(1));
    const auto target = need(world.window<std::uint8_t>({size}));
    const auto source = need(world.window<std::uint8_t>({size}));
    std::vector<std::vector<std::uint8_t>> sources;
    for (std::uint32_t r = 0; r < world.size(); ++r) {
      sources.push_back(random_bytes(static_cast<std::size_t>(size)));
      place(world, source, Rank{r}, sources.back());
    }
    std::uint32_t step = 0;
    for (const Run& run : make_runs(size)) {
      const Way way{static_cast<int>(step % 5)};
      const std::vector<std::uint8_t> poison = random_bytes(static_cast<std::size_t>(size));
      for (std::uint32_t r = 0; r < world.size(); ++r) place(world, target, Rank{r}, poison);
      need(world.launch(run_kernel<Coop>, {.lanes = 1, .threads = threads}, barrier, signals,
                        target, source, run, way, ++step));
      need(world.synchronize());
      for (std::uint32_t r = 0; r < world.size(); ++r) {
        const bool gets = way == Way::get || way == Way::get_async;
        const std::uint32_t from = (r + (gets ? 1 : world.size() - 1)) % world.size();
        std::vector<std::uint8_t> wanted = poison;
        std::copy_n(sources[from].begin() + run.from, run.count, wanted.begin() + run.to);
        expect(fetch(world, target, Rank{r}) == wanted,
               "%s, rank %u: way %d of %lld bytes from %lld to %lld", text_of(devices).c_str(), r,
               static_cast<int>(way), static_cast<long long>(run.count),
               static_cast<long long>(run.from), static_cast<long long>(run.to));
      }
    }
  }
}

// ---- tiles

template <class T>
struct TileWindows {
  WindowRef<T> source;
  WindowRef<T> pushed;  // from the left, by load and remote_store
  WindowRef<T> pulled;  // from the right, by remote_load and store
  WindowRef<T> sums;    // everybody's source is added to it
};

template <class T, int rows, int cols, class Coop>
__global__ void tile_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            TileWindows<T> windows) {
  gpu::Fabric<Coop> fabric(handle);
  const Rank right = right_of(fabric);
  for (std::int64_t row = 0; row < windows.source.rows; row += rows) {
    for (std::int64_t col = 0; col < windows.source.cols; col += cols) {
      const Box box = clip(windows.source, row, col, rows, cols);
      auto tile = fabric.template tile<T, rows, cols>();
      fabric.load(tile, windows.source, box);
      fabric.remote_store(tile, windows.pushed, right, box);
      for (std::uint32_t r = 0; r < fabric.size(); ++r)
        fabric.remote_add(tile, windows.sums, Rank{r}, box);
      (void)fabric.remote_load(tile, windows.source, right, box);
      fabric.store(tile, windows.pulled, box);
    }
  }
  (void)barrier.sync(fabric);
}

// Small whole numbers, so that sums are exact in every type.
template <class T>
T random_number() {
  return static_cast<T>(static_cast<float>(random_source() % 13));
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

template <class T>
struct TileCase {
  gpu::World& world;
  WindowRef<T> flat[4];
  std::string what;

  [[nodiscard]] WindowRef<T> view(int which, std::int64_t offset, std::int64_t rows,
                                  std::int64_t cols) const {
    WindowRef<T> window = flat[which];
    window.offset += static_cast<std::uint64_t>(offset) * sizeof(T);
    window.rows = rows;
    window.cols = cols;
    return window;
  }

  void compare(int which, Rank rank, const std::vector<double>& wanted, const char* name) const {
    const std::vector<T> found = fetch(world, flat[which], rank);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (to_double(found[i]) != wanted[i]) {
        expect(false, "%s, %s of rank %u: element %zu is %g, not %g", what.c_str(), name,
               rank.value, i, to_double(found[i]), wanted[i]);
        return;
      }
  }
};

// One shape at one offset: `flat` windows are larger than the shape, and what is around it stays.
template <class T, int tile_rows, int tile_cols, class Coop>
void tile_shape(const TileCase<T>& one, EpochBarrier barrier, std::uint32_t threads,
                std::int64_t offset, std::int64_t rows, std::int64_t cols) {
  const std::uint32_t ranks = one.world.size();
  const auto flat_size = static_cast<std::size_t>(one.flat[0].size());
  std::vector<std::vector<std::vector<double>>> before(4);
  for (int which = 0; which < 4; ++which)
    for (std::uint32_t r = 0; r < ranks; ++r) {
      std::vector<T> values(flat_size);
      for (T& value : values) value = random_number<T>();
      place(one.world, one.flat[which], Rank{r}, values);
      before[which].emplace_back(flat_size);
      std::transform(values.begin(), values.end(), before[which].back().begin(), to_double<T>);
    }
  const TileWindows<T> windows{one.view(0, offset, rows, cols), one.view(1, offset, rows, cols),
                               one.view(2, offset, rows, cols), one.view(3, offset, rows, cols)};
  need(one.world.launch(tile_kernel<T, tile_rows, tile_cols, Coop>,
                        {.lanes = 1, .threads = threads}, barrier, windows));
  need(one.world.synchronize());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::vector<double> pushed = before[1][r];
    std::vector<double> pulled = before[2][r];
    std::vector<double> sums = before[3][r];
    for (std::int64_t i = offset; i < offset + rows * cols; ++i) {
      const auto at = static_cast<std::size_t>(i);
      pushed[at] = before[0][(r + ranks - 1) % ranks][at];
      pulled[at] = before[0][(r + 1) % ranks][at];
      for (std::uint32_t other = 0; other < ranks; ++other) sums[at] += before[0][other][at];
    }
    one.compare(1, Rank{r}, pushed, "remote_store");
    one.compare(2, Rank{r}, pulled, "remote_load");
    one.compare(3, Rank{r}, sums, "remote_add");
  }
}

template <class T, int tile_rows, int tile_cols, class Coop>
void tiles(std::uint32_t threads, std::initializer_list<std::int64_t> row_counts,
           std::initializer_list<std::int64_t> col_counts) {
  for (const auto& devices : placements({2, 3})) {
    gpu::World world = make_world(devices);
    const EpochBarrier barrier(world);
    TileCase<T> one{world, {}, ""};
    const std::int64_t flat = *std::max_element(row_counts.begin(), row_counts.end()) *
                                  *std::max_element(col_counts.begin(), col_counts.end()) +
                              40;
    for (auto& window : one.flat) window = need(world.window<T>({flat}));
    for (const std::int64_t rows : row_counts)
      for (const std::int64_t cols : col_counts)
        for (const std::int64_t offset : {0, 16, 21}) {
          one.what = text_of(devices) + ", " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " at " + std::to_string(offset);
          tile_shape<T, tile_rows, tile_cols, Coop>(one, barrier, threads, offset, rows, cols);
        }
  }
}

template <class T>
void tiles_of() {
  tiles<T, 4, 3, gpu::Warp>(32, {1, 3, 4, 9}, {1, 2, 3, 7});
  tiles<T, 8, 16, gpu::Block<64>>(64, {1, 8, 17}, {5, 16, 48});
}

// ---- packets

template <class T, std::int64_t R, std::int64_t C, class Coop>
__global__ void packet_kernel(const __grid_constant__ gpu::Handle handle,
                              PacketExchange<T, R, C> exchange, std::uint32_t calls,
                              WindowRef<std::uint32_t> wrong) {
  gpu::Fabric<Coop> fabric(handle);
  const auto value = [&](Rank rank, std::uint32_t call, std::int64_t index) {
    const std::uint64_t all = rank.value * 7 + fabric.lane().value * 3 + call * 13 + index;
    return static_cast<T>(static_cast<float>(all % 101));
  };
  auto mine = fabric.template tile<T, R, C>();
  auto theirs = fabric.template tile<T, R, C>();
  for (std::uint32_t call = 0; call < calls; ++call) {
    mine.each([&](std::int64_t row, std::int64_t col, T& element) {
      element = value(fabric.rank(), call, row * C + col);
    });
    const std::uint32_t flag = exchange.begin(fabric);
    WaitStatus status = WaitStatus::ok;
    // By the whole lane together, not strided over its threads.
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      exchange.put(fabric, flag, right_of(fabric, step), mine);
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const Rank peer = right_of(fabric, step);
      status = worst(status, exchange.wait(fabric, flag, peer, theirs));
      if (status != WaitStatus::ok) break;
      theirs.each([&](std::int64_t row, std::int64_t col, T& element) {
        if (!(element == value(peer, call, row * C + col))) atomicAdd(&fabric.local(wrong)[0], 1U);
      });
    }
    if (exchange.end(fabric, flag, status) != WaitStatus::ok) {
      if (fabric.thread() == 0) atomicAdd(&fabric.local(wrong)[1], 1U);
      break;
    }
  }
}

template <class T, std::int64_t R, std::int64_t C, class Coop>
void packets(std::uint32_t threads) {
  for (const auto& devices : placements({1, 2, 3, 8})) {
    gpu::World world = make_world(devices);
    const PacketExchange<T, R, C> exchange(world);
    const auto wrong = need(world.window<std::uint32_t>({2}));
    for (int launch = 0; launch < 2; ++launch)
      need(world.launch(packet_kernel<T, R, C, Coop>, {.lanes = 3, .threads = threads}, exchange,
                        200U, wrong));
    need(world.synchronize());
    for (std::uint32_t r = 0; r < world.size(); ++r) {
      const auto found = fetch(world, wrong, Rank{r});
      expect(found[0] == 0 && found[1] == 0, "%s, rank %u: %u wrong elements, %u failed calls",
             text_of(devices).c_str(), r, found[0], found[1]);
    }
  }
}

// As if 2^32 - 5 calls had been made: the flag comes round, and the slots are cleared.
__global__ void count_kernel(const __grid_constant__ gpu::Handle handle, Rows counts,
                             std::uint32_t count) {
  gpu::Fabric fabric(handle);
  if (fabric.thread() == 0) fabric.set_counter(counts.epoch(fabric.lane()), count);
}

void packet_count_comes_round() {
  for (const auto& devices : placements({2, 3, 8})) {
    gpu::World world = make_world(devices);
    const PacketExchange<float, 8, 32> exchange(world);
    const auto wrong = need(world.window<std::uint32_t>({2}));
    const gpu::Shape shape{.lanes = 3, .threads = 128};
    const auto kernel = packet_kernel<float, 8, 32, gpu::Block<128>>;
    need(world.launch(kernel, shape, exchange, 3U, wrong));
    need(world.launch(count_kernel, shape, exchange.counts(), ~0U - 4));
    need(world.launch(kernel, shape, exchange, 20U, wrong));
    need(world.synchronize());
    for (std::uint32_t r = 0; r < world.size(); ++r) {
      const auto found = fetch(world, wrong, Rank{r});
      expect(found[0] == 0 && found[1] == 0, "%s, rank %u: %u wrong elements, %u failed calls",
             text_of(devices).c_str(), r, found[0], found[1]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("transfers", argc, argv,
             {{"runs_of_a_warp", [] { runs_of<gpu::Warp>(32, 20'000); }},
              {"runs_of_a_thread", [] { runs_of<gpu::Thread>(1, 9'000); }},
              {"runs_of_a_block", [] { runs_of<gpu::Block<>>(256, 3'000'017); }},
              {"runs_of_warps", [] { runs_of<gpu::Warps<4>>(128, 200'001); }},
              {"tiles_float", tiles_of<float>},
              {"tiles_double", tiles_of<double>},
              {"tiles_int8", tiles_of<std::int8_t>},
              {"tiles_uint16", tiles_of<std::uint16_t>},
              {"tiles_int32", tiles_of<std::int32_t>},
              {"tiles_uint64", tiles_of<std::uint64_t>},
              {"tiles_float16", tiles_of<float16>},
              {"tiles_bfloat16", tiles_of<bfloat16>},
              {"tiles_of_a_thread",
               [] {
                 tiles<float, 2, 4, gpu::Thread>(1, {1, 3, 4}, {1, 4, 7});
               }},
              {"tiles_of_any_block",
               [] {
                 tiles<float, 8, 16, gpu::Block<>>(96, {1, 8, 17}, {5, 16, 48});
               }},
              {"packets_of_a_warp", [] { packets<float, 4, 8, gpu::Warp>(32); }},
              {"packets_of_a_block", [] { packets<float, 8, 128, gpu::Block<256>>(256); }},
              {"packets_of_a_thread", [] { packets<double, 2, 3, gpu::Thread>(1); }},
              {"packets_float16", [] { packets<float16, 3, 24, gpu::Block<64>>(64); }},
              {"packet_count_comes_round", packet_count_comes_round},
              // Little enough for tools that slow everything down.
              {"sanitized", [] {
                 runs_of<gpu::Warps<4>>(128, 5'000);
                 tiles<float, 4, 3, gpu::Warp>(32, {1, 9}, {2, 7});
               }}});
}
