// Tiles of the host's, of the model's, by several threads, and of the counting fabric: what they
// compute. The GPU's are in tests/gpu/tile_test.cpp.
#include "support/tile_arithmetic.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "muster/fabric/host/tile.hpp"
#include "muster/fabric/model/tile.hpp"
#include "support/counting_fabric.hpp"

namespace muster::testing {
namespace {

template <std::int64_t R, std::int64_t C>
struct HostTiles {
  template <class T>
  static auto parts(T) {
    Parts<T, host::Tile<T, R, C>> made;
    made.of_thread.resize(1);
    return made;
  }
};
template <std::int64_t R, std::int64_t C>
struct CountingTiles {
  template <class T>
  static auto parts(T) {
    Parts<T, PlainTile<T, R, C>> made;
    made.of_thread.resize(1);
    return made;
  }
};
template <std::int64_t R, std::int64_t C, std::uint32_t threads>
struct ModelTiles {
  template <class T>
  static auto parts(T) {
    Parts<T, model::Tile<T, R, C>> made;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      made.of_thread.emplace_back(thread, threads);
    return made;
  }
};

template <class Tiles, class... T>
void expect_types() {
  std::uint64_t seed = 0;
  const auto of = [&](auto element) {
    expect_arithmetic(
        Tiles::parts(element), [](auto other) { return Tiles::parts(other); }, ++seed);
  };
  (of(T{}), ...);
}

TEST(TileArithmetic, OnHosts) {
  expect_types<HostTiles<7, 3>, float, float16, std::int8_t>();  // nothing divides it
  expect_types<HostTiles<4, 64>, float, double, float16, bfloat16, std::int8_t, std::uint16_t,
               std::int32_t, std::uint64_t>();
}
TEST(TileArithmetic, OnTheModel) {
  expect_types<ModelTiles<1, 1, 2>, float>();
  expect_types<ModelTiles<4, 16, 3>, float, bfloat16, std::int8_t>();
}
TEST(TileArithmetic, OnTheCountingFabric) {
  expect_types<CountingTiles<3, 5>, float, float16>();
}

}  // namespace
}  // namespace muster::testing
