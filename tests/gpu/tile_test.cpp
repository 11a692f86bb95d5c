// What the threads of a lane do together, one after the other on the host: tiles, packets, copies.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "muster/fabric/gpu.cuh"
#include "muster/half.hpp"
#include "support/tile_arithmetic.hpp"

namespace {

using namespace muster;

std::mt19937 random_source(7);

template <class T>
T number(std::int64_t value) {
  return static_cast<T>(static_cast<float>(value % 120));
}

// A lane of `threads` threads, each with its own part of a tile.
template <class Tile>
struct Crew {
  std::vector<Tile> parts;

  explicit Crew(std::uint32_t threads) {
    for (std::uint32_t thread = 0; thread < threads; ++thread) parts.emplace_back(thread, threads);
  }
  template <class Do>
  void all(Do&& act) {
    for (Tile& part : parts) act(part);
  }
};

// Every element is held by one thread, by row and column; a new tile is zero.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads>
void expect_dealt_out(std::uint32_t threads) {
  Crew<gpu::Tile<T, R, C, static_threads>> crew(threads);
  std::vector<int> held(R * C, 0);
  crew.all([&](auto& part) {
    part.each([&](std::int64_t row, std::int64_t col, T& element) {
      EXPECT_EQ(element, T{});
      ASSERT_TRUE(row >= 0 && row < R && col >= 0 && col < C);
      ++held[static_cast<std::size_t>(row * C + col)];
    });
  });
  for (const int count : held) EXPECT_EQ(count, 1);
}

// From one memory to another through the tile, at any offset, stride and extent of the valid part.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads,
          class Tile = gpu::Tile<T, R, C, static_threads>>
void expect_moves(std::uint32_t threads) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const auto draw = [](std::int64_t below) {
      return static_cast<std::int64_t>(random_source() % static_cast<std::uint32_t>(below));
    };
    const std::int64_t rows = draw(3) == 0 ? R : draw(R + 1);
    const std::int64_t cols = draw(3) == 0 ? C : draw(C + 1);
    const std::int64_t stride = C + (draw(2) == 0 ? 0 : draw(9));
    const std::int64_t offset = draw(2) == 0 ? 0 : draw(17);
    std::vector<T> from(static_cast<std::size_t>(offset + stride * R + 16));
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = number<T>(static_cast<std::int64_t>(i) + 1);
    std::vector<T> to(from.size(), number<T>(99));
    std::vector<T> sums(from.size(), number<T>(1));
    Crew<Tile> crew(threads);
    crew.all([&](auto& part) {
      part.read({from.data() + offset, stride, rows, cols});
      part.write({to.data() + offset, stride, rows, cols});
      part.add_to({sums.data() + offset, stride, rows, cols});
      part.each([&](std::int64_t row, std::int64_t col, T& element) {
        const bool valid = row < rows && col < cols;
        const auto at = static_cast<std::size_t>(offset + row * stride + col);
        EXPECT_EQ(element, valid ? from[at] : T{});
      });
    });
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.size()); ++i) {
      const std::int64_t row = i < offset ? R : (i - offset) / stride;
      const std::int64_t col = i < offset ? C : (i - offset) % stride;
      const bool inside = row < rows && col < cols;
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(to[at], inside ? from[at] : number<T>(99)) << "element " << i;
      EXPECT_EQ(sums[at], inside ? T(number<T>(1) + from[at]) : number<T>(1)) << "element " << i;
    }
  }
}

template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads,
          class Tile = gpu::Tile<T, R, C, static_threads>>
void expect_packets(std::uint32_t threads) {
  constexpr auto words = static_cast<std::size_t>(packet_lines<T>(R * C) * 8);
  std::vector<std::uint64_t> slots(words + 1, 0);
  Crew<Tile> sender(threads);
  Crew<Tile> receiver(threads);
  std::int64_t next = 0;
  sender.all([&](auto& part) {
    part.each([&](std::int64_t, std::int64_t, T& element) { element = number<T>(++next); });
  });
  // A thread that has no part of the tile has nothing to wait for.
  std::vector<bool> has_part;
  receiver.all([&](auto& part) {
    bool any = false;
    part.each([&](std::int64_t, std::int64_t, T&) { any = true; });
    has_part.push_back(any);
    EXPECT_EQ(part.take_packets(slots.data(), 5), !any);
  });
  sender.all([&](auto& part) { part.put_packets(slots.data(), 5); });
  EXPECT_EQ(slots[words], 0U) << "past the lines of the tile";
  for (std::size_t thread = 0; thread < receiver.parts.size(); ++thread) {
    EXPECT_EQ(receiver.parts[thread].take_packets(slots.data(), 4), !has_part[thread]);
    EXPECT_TRUE(receiver.parts[thread].take_packets(slots.data(), 5));
  }
  next = 0;
  receiver.all([&](auto& part) {
    part.each(
        [&](std::int64_t, std::int64_t, T& element) { EXPECT_EQ(element, number<T>(++next)); });
  });
}

// As one thread after the other computes: tiles that are like one of T.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t static_threads>
void expect_computes(std::uint32_t threads) {
  using Tile = gpu::Tile<T, R, C, static_threads>;
  const auto parts_of = [&]<class U>(U) {
    muster::testing::Parts<U, gpu::Tile<U, R, C, static_threads, Tile::group_size>> parts;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      parts.of_thread.emplace_back(thread, threads);
    return parts;
  };
  muster::testing::expect_arithmetic(parts_of(T{}), parts_of, R * C + threads);
}

template <class T>
void expect_everything() {
  expect_computes<T, 3, 5, 8>(8);
  expect_computes<T, 9, 64, 0>(33);
  expect_dealt_out<T, 4, 16, 32>(32);
  expect_dealt_out<T, 3, 5, 64>(64);
  expect_dealt_out<T, 8, 24, 1>(1);
  expect_dealt_out<T, 8, 24, 0>(96);
  expect_moves<T, 4, 16, 32>(32);
  expect_moves<T, 3, 5, 3>(3);
  expect_moves<T, 8, 24, 0>(33);
  expect_packets<T, 4, 16, 32>(32);
  expect_packets<T, 3, 5, 64>(64);
  expect_packets<T, 9, 12, 1>(1);
}

TEST(GpuTile, Float) {
  expect_everything<float>();
}
TEST(GpuTile, Double) {
  expect_everything<double>();
}
TEST(GpuTile, Int8) {
  expect_everything<std::int8_t>();
}
TEST(GpuTile, Uint16) {
  expect_everything<std::uint16_t>();
}
TEST(GpuTile, Int64) {
  expect_everything<std::int64_t>();
}
TEST(GpuTile, Float16) {
  expect_everything<float16>();
}
TEST(GpuTile, Bfloat16) {
  expect_everything<bfloat16>();
}

// Tiles whose groups are wider than 16 bytes, as those that are like narrower ones: through memory
// and packets.
TEST(GpuTile, OfGroupsBeyond16Bytes) {
  expect_moves<double, 8, 24, 4, gpu::Tile<double, 8, 24, 4, 8>>(4);
  expect_moves<float, 8, 32, 16, gpu::Tile<float, 8, 32, 16, 16>>(16);
  expect_packets<double, 8, 24, 4, gpu::Tile<double, 8, 24, 4, 8>>(4);
  expect_packets<float, 8, 32, 16, gpu::Tile<float, 8, 32, 16, 16>>(16);
}

TEST(GpuCopy, EveryAlignmentAndLength) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    const auto count = static_cast<std::int64_t>(random_source() % (attempt % 10 == 0 ? 9000 : 80));
    const std::size_t to_at = random_source() % 40;
    const std::size_t from_at = random_source() % 40;
    const auto threads = static_cast<std::uint32_t>(1 + random_source() % 40);
    std::vector<std::byte> from(from_at + static_cast<std::size_t>(count) + 40);
    for (std::byte& one : from) one = static_cast<std::byte>(random_source());
    std::vector<std::byte> to(to_at + static_cast<std::size_t>(count) + 40);
    for (std::byte& one : to) one = static_cast<std::byte>(random_source());
    std::vector<std::byte> wanted = to;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_at), count,
                wanted.begin() + static_cast<std::ptrdiff_t>(to_at));
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      gpu::detail::copy_run(to.data() + to_at, from.data() + from_at, count, thread, threads);
    ASSERT_EQ(to, wanted) << count << " bytes from " << from_at << " to " << to_at;
  }
}

}  // namespace
