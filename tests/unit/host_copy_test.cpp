// How the host fabric copies: its own way for what fits a cache line, whatever the size.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "muster/fabric/host.hpp"

namespace muster::host {
namespace {

TEST(HostCopy, EverySizeAtEveryAlignmentAndNothingBeside) {
  constexpr std::size_t guard = 80;
  constexpr auto poison = std::byte{0xee};
  for (std::size_t bytes = 0; bytes <= 200; ++bytes)
    for (std::size_t shift = 0; shift < 16; shift += bytes < 70 ? 1 : 5) {
      std::vector<std::byte> source(bytes + shift);
      for (std::size_t i = 0; i < bytes; ++i) source[shift + i] = static_cast<std::byte>(i * 7 + 1);
      std::vector<std::byte> target(guard + bytes + guard, poison);
      detail::copy(target.data() + guard - shift, source.data() + shift, bytes);
      for (std::size_t i = 0; i < target.size(); ++i) {
        const std::size_t at = i - (guard - shift);  // wraps before the copy's begin
        const std::byte expected = at < bytes ? static_cast<std::byte>(at * 7 + 1) : poison;
        ASSERT_EQ(target[i], expected) << bytes << " bytes, shift " << shift << ", byte " << i;
      }
    }
}

template <class T, std::int64_t R, std::int64_t C>
void expect_on_a_line_and_zero() {
  for (int again = 0; again < 5; ++again) {
    Tile<T, R, C> tile;
    std::int64_t elements = 0;
    tile.each([&](std::int64_t row, std::int64_t col, T& element) {
      if (row == 0 && col == 0) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&element) % 64, 0U);
      }
      EXPECT_EQ(element, T{});
      element = static_cast<T>(1);  // the next tile may get this memory
      ++elements;
    });
    EXPECT_EQ(elements, R * C);
  }
}

TEST(HostTile, BeginsOnACacheLineAndIsZero) {
  expect_on_a_line_and_zero<float, 1, 1>();
  expect_on_a_line_and_zero<std::int8_t, 3, 5>();
  expect_on_a_line_and_zero<double, 8, 64>();
}

}  // namespace
}  // namespace muster::host
