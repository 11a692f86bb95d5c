// The host's loops for vector units: whichever the processor has, they give the same bits.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "muster/fabric/host.hpp"
#include "muster/fabric/host/vectors.hpp"
#include "support/tile_arithmetic.hpp"

namespace muster::host::detail {
namespace {

using muster::testing::random_number;
using muster::testing::same;

constexpr std::int64_t most = 199;

template <class T>
struct alignas(64) Numbers {
  T at[most + 1];

  explicit Numbers(std::mt19937_64& random) {
    for (T& one : at) one = random_number<T>(random);
  }
};

template <class Mine, class Theirs, class Op>
void expect_one(const Loops& loops, std::mt19937_64& random) {
  constexpr int op = LoopOperators::index_of<Op>();
  constexpr int types = LoopTypes::index_of<TypePair<Mine, Theirs>>();
  ASSERT_NE(loops.combine[op][types], nullptr);
  for (const std::int64_t count : {0, 1, 3, 7, 15, 16, 31, 64, 65, 128, 199}) {
    const Numbers<Mine> before(random);
    const Numbers<Theirs> theirs(random);
    for (const int shift : {0, 1}) {  // a peer's memory begins anywhere
      if (count + shift > most) continue;
      Numbers<Mine> mine = before;
      loops.combine[op][types](mine.at, mine.at, theirs.at + shift, count);
      for (std::int64_t i = 0; i < most; ++i) {
        Mine expected = before.at[i];
        if (i < count) {
          const Mine other = convert<Mine>(theirs.at[i + shift]);
          if constexpr (std::is_same_v<Op, Assign>)
            expected = other;
          else
            expected = static_cast<Mine>(Op{}(expected, other));
        }
        ASSERT_TRUE(same(mine.at[i], expected)) << "types " << types << ", operator " << op << ", "
                                                << count << " elements, element " << i;
      }
    }
  }
}

// The same to a third place, which begins anywhere in a line.
template <class T>
void expect_apart(const Loops& loops, std::mt19937_64& random) {
  constexpr int types = LoopTypes::index_of<TypePair<T, T>>();
  const Numbers<T> mine(random);
  const Numbers<T> theirs(random);
  for (const std::int64_t count : {0, 1, 15, 64, 130})
    for (const std::int64_t shift : {0, 1, 3, 16, 63}) {
      const Numbers<T> before(random);
      Numbers<T> to = before;
      loops.combine[LoopOperators::index_of<Max>()][types](to.at + shift, mine.at, theirs.at + 1,
                                                           count);
      for (std::int64_t i = 0; i <= most; ++i) {
        const bool written = i >= shift && i < shift + count;
        const T expected =
            written ? Max{}(mine.at[i - shift], theirs.at[i - shift + 1]) : before.at[i];
        ASSERT_TRUE(same(to.at[i], expected)) << "types " << types << ", " << count
                                              << " elements from " << shift << ", element " << i;
      }
    }
}

template <class Mine, class Theirs, class... Ops>
void expect_operators(const Loops& loops, std::mt19937_64& random, TypePair<Mine, Theirs> /*of*/,
                      TypeList<Ops...> /*operators*/) {
  const auto one = [&]<class Op>(Op) {
    if constexpr (has_loop<Mine, Theirs, Op>)
      expect_one<Mine, Theirs, Op>(loops, random);
    else
      EXPECT_EQ((loops.combine[LoopOperators::index_of<Op>()]
                              [LoopTypes::index_of<TypePair<Mine, Theirs>>()]),
                nullptr);
  };
  (one(Ops{}), ...);
}

template <class... Types>
void expect_types(const Loops& loops, TypeList<Types...> /*types*/) {
  std::mt19937_64 random(11);
  expect_apart<float>(loops, random);
  expect_apart<double>(loops, random);
  expect_apart<std::int8_t>(loops, random);
  expect_apart<std::uint16_t>(loops, random);
  (expect_operators(loops, random, Types{}, LoopOperators{}), ...);
}

std::string name_of_vectors(Vectors vectors) {
  if (vectors == Vectors::baseline) return "baseline";
  return vectors == Vectors::avx2 ? "avx2" : "avx512";
}

class HostVectors : public ::testing::TestWithParam<Vectors> {
 protected:
  const Loops* loops_ = loops_for(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Each, HostVectors,
                         ::testing::Values(Vectors::baseline, Vectors::avx2, Vectors::avx512),
                         [](const auto& one) { return name_of_vectors(one.param); });

TEST_P(HostVectors, CombineAsOneElementAfterTheOther) {
  if (loops_ == nullptr) GTEST_SKIP() << "the processor has no such unit";
  expect_types(*loops_, LoopTypes{});
}

TEST_P(HostVectors, CopyEverySizeAndNothingBeside) {
  if (loops_ == nullptr) GTEST_SKIP() << "the processor has no such unit";
  constexpr std::size_t guard = 64;
  constexpr auto poison = std::byte{0xee};
  for (std::size_t bytes = 0; bytes <= 700; ++bytes)
    for (const std::size_t shift : {0, 1, 16}) {
      std::vector<std::byte> source(bytes + shift);
      for (std::size_t i = 0; i < bytes; ++i) source[shift + i] = static_cast<std::byte>(i * 7 + 1);
      std::vector<std::byte> target(guard + bytes + guard, poison);
      loops_->copy(target.data() + guard - shift, source.data() + shift, bytes);
      for (std::size_t i = 0; i < target.size(); ++i) {
        const std::size_t at = i - (guard - shift);  // wraps before the copy's begin
        const std::byte expected = at < bytes ? static_cast<std::byte>(at * 7 + 1) : poison;
        ASSERT_EQ(target[i], expected) << bytes << " bytes, shift " << shift << ", byte " << i;
      }
    }
}

TEST(HostLoops, StreamEverySizeAndNothingBeside) {
  constexpr std::size_t guard = 128;
  constexpr auto poison = std::byte{0xee};
  for (std::size_t bytes = 0; bytes <= 400; ++bytes)
    for (const std::size_t shift : {0, 1, 4, 16, 63}) {
      std::vector<std::byte> source(bytes + 64);
      for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
      std::vector<std::byte> target(guard + bytes + guard, poison);
      stream(target.data() + guard - shift, source.data(), bytes);
      finish_stream();
      for (std::size_t i = 0; i < target.size(); ++i) {
        const std::size_t at = i - (guard - shift);  // wraps before the copy's begin
        const std::byte expected = at < bytes ? static_cast<std::byte>(at * 7 + 1) : poison;
        ASSERT_EQ(target[i], expected) << bytes << " bytes, shift " << shift << ", byte " << i;
      }
    }
}

TEST(HostLoops, TheWidestIsUsed) {
  const Loops* widest = loops_for(Vectors::baseline);
  for (const Vectors vectors : {Vectors::avx2, Vectors::avx512})
    if (const Loops* const found = loops_for(vectors); found != nullptr) widest = found;
  EXPECT_EQ(loops, widest);
}

// What lies behind a short run is zero, whenever somebody looks at it.
TEST(HostTile, BehindAShortRunItIsZero) {
  constexpr std::int64_t cols = 50;
  LaneContext context;
  Fabric fabric(context);
  std::vector<float> memory(cols, 3.0F);
  const MemoryRef<float> from{memory.data(), 1, cols};
  auto sums = fabric.tile<float, 1, cols>();
  auto tile = fabric.tile<float, 1, cols>();
  const auto expect = [](auto& one, std::int64_t count, float value) {
    one.each([&](std::int64_t, std::int64_t col, float& element) {
      EXPECT_EQ(element, col < count ? value : 0.0F) << col;
    });
  };
  fabric.load(tile, from, Box{0, 0, 1, cols});  // dirties its memory
  for (const std::int64_t count : {0, 1, 7, 33, 50}) {
    fabric.load(sums, from, Box{0, 0, 1, count});
    fabric.load(tile, from, Box{0, 0, 1, cols - count});
    sums.combine(tile, Max{});
    expect(sums, count < cols - count ? cols - count : count, 3.0F);
    fabric.load(tile, from, Box{0, 0, 1, count});
    sums.assign(tile);
    expect(sums, count, 3.0F);
    sums.combine(tile, [](float a, float b) { return a + b; });
    expect(sums, count, 6.0F);
    fabric.load(tile, from, Box{0, 0, 1, count});
    std::vector<float> all(cols, 5.0F);
    fabric.store(tile, MemoryRef<float>{all.data(), 1, cols}, Box{0, 0, 1, cols});
    for (std::int64_t i = 0; i < cols; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)], i < count ? 3.0F : 0.0F) << i;
  }
}

}  // namespace
}  // namespace muster::host::detail
