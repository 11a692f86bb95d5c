// put, get, tiles and remote_add of every element type against references that the host computes:
// whole rectangles by transfer.hpp, on fresh random data, into poisoned memory. Copies must have
// the same bits. Sums of integers are exact, for they wrap; sums of floats are compared with sums
// in double precision, within the rounding of their additions.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "gpu/support.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/half.hpp"
#include "muster/transfer.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

// Another one in each run, unless MUSTER_TEST_SEED names it.
const std::uint64_t seed = [] {
  const char* const wish = std::getenv("MUSTER_TEST_SEED");
  return wish != nullptr ? std::strtoull(wish, nullptr, 10) : std::random_device{}();
}();
std::mt19937_64 random_source(seed);

constexpr std::uint32_t lanes = 3;
constexpr std::int64_t rows = 37;
constexpr std::int64_t cols = 53;

template <class T>
using Move = Transfer<WindowRef<T>, WindowRef<T>>;

template <class T>
struct Work {
  Move<T> put;
  Move<T> get;
  Move<T> add;
  WindowRef<T> source;
  WindowRef<T> pushed;  // by tiles
  WindowRef<T> pulled;
};

// Lane 0 puts to the right, lane 1 gets from the left, lane 2 moves tiles both ways, and every lane
// adds to the same elements of all ranks.
template <class T, class Coop>
__global__ void work_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            Work<T> work) {
  gpu::Fabric<Coop> fabric(handle);
  const Rank right = right_of(fabric);
  const Rank left = left_of(fabric);
  if (fabric.lane() == Lane{0}) put(fabric, work.put, right);
  // A get that fails fails the lane: the barrier tells.
  if (fabric.lane() == Lane{1}) (void)get(fabric, work.get, left);
  if (fabric.lane() == Lane{2}) {
    auto tile = fabric.template tile<T, 8, 24>();
    for (std::int64_t row = 0; row < rows; row += 8)
      for (std::int64_t col = 0; col < cols; col += 24) {
        const Box box = clip(work.source, row, col, 8, 24);
        fabric.load(tile, work.source, box);
        fabric.remote_store(tile, work.pushed, right, box);
        (void)fabric.remote_load(tile, work.source, left, box);
        fabric.store(tile, work.pulled, box);
      }
  }
  for (std::uint32_t step = 0; step < fabric.size(); ++step)
    remote_add<4, 24>(fabric, work.add, right_of(fabric, step));
  (void)barrier.sync(fabric);
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

// Integers of all bits; floats between -1 and 1.
template <class T>
std::vector<T> random_values() {
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<T> values(rows * cols);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(random_source());
    else if constexpr (std::is_arithmetic_v<T>)
      value = static_cast<T>(unit(random_source));
    else
      value = T(static_cast<float>(unit(random_source)));
  }
  return values;
}

// The distance from 1 to the next number.
template <class T>
constexpr double epsilon() {
  if constexpr (std::is_same_v<T, double>) return 0x1p-52;
  if constexpr (std::is_same_v<T, float>) return 0x1p-23;
  if constexpr (std::is_same_v<T, float16>) return 0x1p-10;
  return 0x1p-7;  // bfloat16
}

template <class T>
using Values = std::vector<std::vector<T>>;  // by rank

template <class T>
Values<T> fill(const gpu::World& world, WindowRef<T> window) {
  Values<T> all;
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    all.push_back(random_values<T>());
    place(world, window, Rank{rank}, all.back());
  }
  return all;
}

void tell(const std::string& what, const char* way, std::uint32_t rank, std::size_t at) {
  expect(false, "%s, %s: element %zu of rank %u is wrong (MUSTER_TEST_SEED=%llu)", what.c_str(),
         way, at, rank, static_cast<unsigned long long>(seed));
}

// `region` of the target has the values of another rank, and the rest is as it was.
template <class T>
void check_copies(const gpu::World& world, const std::string& what, const char* way,
                  WindowRef<T> target, const Values<T>& before, const Values<T>& source,
                  const Region& region, std::uint32_t from) {
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    std::vector<T> wanted = before[rank];
    for (std::int64_t row = 0; row < region.rows; ++row)
      for (std::int64_t col = 0; col < region.cols; ++col)
        wanted[static_cast<std::size_t>(target.at(region.to.row + row, region.to.col + col))] =
            source[(rank + from) % world.size()][static_cast<std::size_t>(
                target.at(region.from.row + row, region.from.col + col))];
    const std::vector<T> found = fetch(world, target, Rank{rank});
    for (std::size_t at = 0; at < wanted.size(); ++at)
      if (std::memcmp(&found[at], &wanted[at], sizeof(T)) != 0) {
        tell(what, way, rank, at);
        return;
      }
  }
}

// What all ranks have added `lanes` times to one element.
template <class T>
bool is_sum(T found, T before, const std::vector<T>& addends) {
  if constexpr (std::is_integral_v<T>) {
    auto sum = static_cast<std::uint64_t>(before);
    for (const T addend : addends) sum += lanes * static_cast<std::uint64_t>(addend);
    return found == static_cast<T>(sum);
  } else {
    long double sum = to_double(before);  // longer than double, which is one of the types
    long double size = std::abs(sum);
    for (const T addend : addends) {
      sum += lanes * static_cast<long double>(to_double(addend));
      size += lanes * std::abs(static_cast<long double>(to_double(addend)));
    }
    // Each addition rounds a partial sum, none of which is larger than `size`, by half an epsilon.
    const long double rounding =
        lanes * static_cast<long double>(addends.size()) * epsilon<T>() / 2 * size;
    return std::abs(to_double(found) - sum) <= rounding * 1.01L;
  }
}

template <class T>
void check_sums(const gpu::World& world, const std::string& what, WindowRef<T> target,
                const Values<T>& before, const Values<T>& source, const Region& region) {
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::vector<T> found = fetch(world, target, Rank{rank});
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = 0; col < cols; ++col) {
        const auto at = static_cast<std::size_t>(target.at(row, col));
        const std::int64_t i = row - region.to.row;
        const std::int64_t j = col - region.to.col;
        std::vector<T> addends;
        if (i >= 0 && i < region.rows && j >= 0 && j < region.cols)
          for (const std::vector<T>& values : source)
            addends.push_back(values[static_cast<std::size_t>(
                target.at(region.from.row + i, region.from.col + j))]);
        if (!is_sum(found[at], before[rank][at], addends)) {
          tell(what, "remote_add", rank, at);
          return;
        }
      }
  }
}

template <class T, class Coop>
void move_once(const std::vector<int>& devices, std::uint32_t threads, const Chunks& chunks) {
  gpu::World world = need(gpu::World::create({.devices = devices,
                                              .lanes = lanes,
                                              .bytes = 4U << 20U,
                                              .deadline = patience(),
                                              .verify = true}));
  const EpochBarrier barrier(world);
  const Region region{.to = {2, 5}, .from = {7, 3}, .rows = 29, .cols = 47};
  WindowRef<T> window[6];
  for (WindowRef<T>& one : window) one = need(world.window<T>({rows, cols}));
  const auto& [source, put_to, got, sums, pushed, pulled] = window;
  const Work<T> work{*make_transfer(put_to, source, region, chunks),
                     *make_transfer(got, source, region, chunks),
                     *make_transfer(sums, source, region),
                     source,
                     pushed,
                     pulled};
  Values<T> before[6];
  for (int i = 0; i < 6; ++i) before[i] = fill(world, window[i]);
  need(world.launch(work_kernel<T, Coop>, {.lanes = lanes, .threads = threads}, barrier, work));
  need(world.synchronize());

  const std::string what = text_of(devices) + ", lanes of " + std::to_string(threads);
  const std::uint32_t left = world.size() - 1;  // as seen from the rank itself
  const Region all{.rows = rows, .cols = cols};
  check_copies(world, what, "source", source, before[0], before[0], all, 0);
  check_copies(world, what, "put", put_to, before[1], before[0], region, left);
  check_copies(world, what, "get", got, before[2], before[0], region, left);
  check_copies(world, what, "remote_store", pushed, before[4], before[0], all, left);
  check_copies(world, what, "remote_load", pulled, before[5], before[0], all, left);
  check_sums(world, what, sums, before[3], before[0], region);
}

template <class T>
void type() {
  for (const auto& devices : placements({2, 3, 4, 8})) {
    move_once<T, gpu::Warp>(devices, 32, {});
    move_once<T, gpu::Block<>>(devices, 96, {.chunk_rows = 5, .chunk_cols = 11, .pipeline = true});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("types", argc, argv,
             {{"int8", type<std::int8_t>},
              {"uint8", type<std::uint8_t>},
              {"int16", type<std::int16_t>},
              {"uint16", type<std::uint16_t>},
              {"int32", type<std::int32_t>},
              {"uint32", type<std::uint32_t>},
              {"int64", type<std::int64_t>},
              {"uint64", type<std::uint64_t>},
              {"float16", type<float16>},
              {"bfloat16", type<bfloat16>},
              {"float", type<float>},
              {"double", type<double>}});
}
