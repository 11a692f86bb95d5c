// What tiles compute in kernels, by the processor's own arithmetic of 16 bits where it has it,
// against the same operators on the host: the same bits, or both a NaN. Random bits, so that
// infinities, NaNs and subnormal numbers are among them, at every alignment and with ragged tails.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "gpu/support.hpp"
#include "muster/fabric/gpu.cuh"

namespace {

using namespace muster;
using namespace muster::gpu_test;

// Another one in each run, unless MUSTER_TEST_SEED names it.
const std::uint64_t seed = [] {
  const char* const wish = std::getenv("MUSTER_TEST_SEED");
  return wish != nullptr ? std::strtoull(wish, nullptr, 10) : std::random_device{}();
}();
std::mt19937_64 random_source(seed);

constexpr std::int64_t rows = 13;
constexpr std::int64_t cols = 83;
constexpr std::int64_t tile_rows = 4;
constexpr std::int64_t tile_cols = 48;

template <class T>
struct Data {
  WindowRef<T> a;
  WindowRef<T> b;
  WindowRef<T> reduced;               // op(a, b)
  WindowRef<Accumulator<T>> widened;  // op(a, b), kept wide
  WindowRef<T> rounded;               // and rounded
  WindowRef<T> copied;                // a through plain memory
};

// One lane goes over the whole in tiles; columns begin at `shift`, so that no tile is aligned but
// where that is a multiple of 16 bytes.
template <class T, class Coop>
__global__ void reduce_kernel(const __grid_constant__ gpu::Handle handle, Data<T> data, ReduceOp op,
                              std::int64_t shift) {
  gpu::Fabric<Coop> fabric(handle);
  auto a = fabric.template tile<T, tile_rows, tile_cols>();
  auto b = fabric.template tile<T, tile_rows, tile_cols>();
  for (std::int64_t row = 0; row < rows; row += tile_rows)
    for (std::int64_t col = shift; col < cols; col += tile_cols) {
      const Box box = clip(data.a, row, col, tile_rows, tile_cols);
      fabric.load(a, data.a, box);
      fabric.load(b, data.b, box);
      auto wide = fabric.template tile_like<Accumulator<T>>(a);
      wide.assign(a);
      wide.combine(b, op);
      fabric.store(wide, data.widened, box);
      const MemoryRef<T> copied{fabric.local(data.copied).data(), rows, cols};
      fabric.store(a, copied, box);
      a.combine(b, op);
      fabric.store(a, data.reduced, box);
      b.assign(wide);
      fabric.store(b, data.rounded, box);
      const MemoryRef<const T> again{fabric.local(data.a).data(), rows, cols};
      fabric.load(a, again, box);
      fabric.store(a, copied, box);
    }
}

template <class T>
std::vector<T> random_values() {
  std::vector<T> values(rows * cols);
  for (T& value : values) {
    const std::uint64_t bits = random_source();
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    if constexpr (!std::is_integral_v<T>)
      if (bits % 7 < 5) value = convert<T>(static_cast<double>(bits >> 52U) / 64.0 - 31.0);
  }
  return values;
}

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (!(a == a) && !(b == b));
}

template <class T>
void check(const gpu::World& world, const char* what, WindowRef<T> window, std::int64_t shift,
           const std::vector<T>& wanted) {
  const std::vector<T> found = fetch(world, window, Rank{0});
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i % cols >= shift && !same(found[at], wanted[at])) {
      expect(false, "%s: element %lld is wrong (MUSTER_TEST_SEED=%llu)", what,
             static_cast<long long>(i), static_cast<unsigned long long>(seed));
      return;
    }
  }
}

template <class T, class Coop, class Op>
void reduce_once(std::uint32_t threads, ReduceOp op, Op one, std::int64_t shift) {
  gpu::World world = need(gpu::World::create(
      {.devices = {0}, .lanes = 1, .bytes = 4U << 20U, .deadline = patience(), .verify = true}));
  const Data<T> data{
      need(world.window<T>({rows, cols})), need(world.window<T>({rows, cols})),
      need(world.window<T>({rows, cols})), need(world.window<Accumulator<T>>({rows, cols})),
      need(world.window<T>({rows, cols})), need(world.window<T>({rows, cols}))};
  const auto a = random_values<T>();
  const auto b = random_values<T>();
  place(world, data.a, Rank{0}, a);
  place(world, data.b, Rank{0}, b);
  need(world.launch(reduce_kernel<T, Coop>, {.lanes = 1, .threads = threads}, data, op, shift));
  need(world.synchronize());
  std::vector<T> reduced;
  std::vector<Accumulator<T>> widened;
  std::vector<T> rounded;
  for (std::size_t i = 0; i < a.size(); ++i) {
    reduced.push_back(one(a[i], b[i]));
    widened.push_back(one(convert<Accumulator<T>>(a[i]), convert<Accumulator<T>>(b[i])));
    rounded.push_back(convert<T>(widened.back()));
  }
  check(world, "combine", data.reduced, shift, reduced);
  check(world, "combine with an accumulator", data.widened, shift, widened);
  check(world, "assign", data.rounded, shift, rounded);
  check(world, "plain memory", data.copied, shift, a);
}

template <class T, class Op>
void operation(ReduceOp op, Op one) {
  for (const std::int64_t shift : {0, 1, 3, 8}) {
    reduce_once<T, gpu::Warp>(32, op, one, shift);
    reduce_once<T, gpu::Block<>>(96, op, one, shift);
  }
}

template <class T>
void type() {
  operation<T>(ReduceOp::sum, Sum{});
  operation<T>(ReduceOp::prod, Prod{});
  operation<T>(ReduceOp::max, Max{});
  operation<T>(ReduceOp::min, Min{});
}

}  // namespace

int main(int argc, char** argv) {
  return run("reduce", argc, argv,
             {{"int8", type<std::int8_t>},
              {"uint16", type<std::uint16_t>},
              {"int64", type<std::int64_t>},
              {"float16", type<float16>},
              {"bfloat16", type<bfloat16>},
              {"float", type<float>},
              {"double", type<double>}});
}
