// Operators and conversions against references in double and in wide integers.
#include "muster/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {
namespace {

static_assert(std::is_same_v<Accumulator<float16>, float>);
static_assert(std::is_same_v<Accumulator<bfloat16>, float>);
static_assert(std::is_same_v<Accumulator<double>, double>);
static_assert(std::is_same_v<Accumulator<std::int8_t>, std::int8_t>);

// Integers of any bits: what the operator gives is the exact result modulo 2^64, and so modulo
// less.
template <class T>
void expect_integers() {
  std::mt19937_64 random(sizeof(T) + std::is_signed_v<T>);
  std::vector<T> values = {
      0, 1, 2, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), static_cast<T>(-1)};
  for (int i = 0; i < 60; ++i) values.push_back(static_cast<T>(random()));
  for (const T a : values)
    for (const T b : values) {
      const auto wide_a = static_cast<std::uint64_t>(a);
      const auto wide_b = static_cast<std::uint64_t>(b);
      EXPECT_EQ(Sum{}(a, b), static_cast<T>(wide_a + wide_b));
      EXPECT_EQ(Prod{}(a, b), static_cast<T>(wide_a * wide_b));
      EXPECT_EQ(Max{}(a, b), std::max(a, b));
      EXPECT_EQ(Min{}(a, b), std::min(a, b));
    }
}

TEST(Reduce, IntegersWrap) {
  expect_integers<std::int8_t>();
  expect_integers<std::uint8_t>();
  expect_integers<std::int16_t>();
  expect_integers<std::uint16_t>();
  expect_integers<std::int32_t>();
  expect_integers<std::uint32_t>();
  expect_integers<std::int64_t>();
  expect_integers<std::uint64_t>();
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// NaN on either side, infinities, both zeros, the least subnormal number.
template <class T>
void expect_order_of_floats() {
  const auto of = [](float value) { return convert<T>(value); };
  const T nan = of(std::numeric_limits<float>::quiet_NaN());
  const T infinity = of(std::numeric_limits<float>::infinity());
  const T zero = of(0.0F);
  const T minus_zero = of(-0.0F);
  T tiny{};  // all bits 0 but the last
  *reinterpret_cast<unsigned char*>(&tiny) = 1;
  for (const T one : {zero, minus_zero, tiny, of(-2.5F), infinity, of(-3.0F)}) {
    EXPECT_TRUE(same_bits(Max{}(one, nan), one)) << "the first, where the second is a NaN";
    EXPECT_TRUE(same_bits(Min{}(one, nan), one));
    EXPECT_TRUE(same_bits(Max{}(nan, one), nan)) << "the first, where it is a NaN";
    EXPECT_TRUE(same_bits(Min{}(nan, one), nan));
    EXPECT_FALSE(Sum{}(one, nan) == Sum{}(one, nan)) << "a sum with a NaN is none";
    EXPECT_TRUE(same_bits(Max{}(one, infinity), infinity));
    EXPECT_TRUE(same_bits(Min{}(infinity, one), one));
    EXPECT_TRUE(same_bits(Sum{}(one, minus_zero), one)) << "-0 changes nothing";
  }
  EXPECT_TRUE(same_bits(Max{}(minus_zero, zero), minus_zero)) << "equal: the first";
  EXPECT_TRUE(same_bits(Min{}(zero, minus_zero), zero));
  EXPECT_TRUE(same_bits(Max{}(zero, tiny), tiny)) << "subnormal numbers count";
  EXPECT_TRUE(same_bits(Min{}(tiny, zero), zero));
  EXPECT_TRUE(same_bits(Sum{}(tiny, zero), tiny));
  EXPECT_TRUE(same_bits(Prod{}(tiny, of(1.0F)), tiny));
}

TEST(Reduce, FloatsAreOrderedAsLessSays) {
  expect_order_of_floats<float>();
  expect_order_of_floats<double>();
  expect_order_of_floats<float16>();
  expect_order_of_floats<bfloat16>();
}

// Sums and products of all magnitudes: what rounding the exact result gives, which a double holds.
template <class T>
void expect_rounded_once() {
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto a = T::from_bits(static_cast<std::uint16_t>(random()));
    const auto b = T::from_bits(static_cast<std::uint16_t>(random()));
    const auto x = static_cast<double>(static_cast<float>(a));
    const auto y = static_cast<double>(static_cast<float>(b));
    for (const auto& [seen, exact] :
         {std::pair(Sum{}(a, b), x + y), std::pair(Prod{}(a, b), x * y)})
      if (std::isnan(exact))
        ASSERT_TRUE(std::isnan(static_cast<float>(seen)));
      else
        ASSERT_EQ(seen.bits(), convert<T>(exact).bits()) << x << " and " << y;
  }
}

TEST(Reduce, NumbersOf16BitsAreRoundedOnce) {
  // A sum of bfloat16 of far apart exponents may need more bits than a double has; but then the
  // smaller one only says on which side of the larger the sum lies, which is where it is anyway.
  expect_rounded_once<float16>();
  expect_rounded_once<bfloat16>();
}

TEST(Reduce, ChosenAtRunTime) {
  const auto chosen = [](ReduceOp op, int a, int b) {
    return with_operator(op, [&](auto one) { return one(a, b); });
  };
  EXPECT_EQ(chosen(ReduceOp::sum, 3, 5), 8);
  EXPECT_EQ(chosen(ReduceOp::prod, 3, 5), 15);
  EXPECT_EQ(chosen(ReduceOp::max, 3, 5), 5);
  EXPECT_EQ(chosen(ReduceOp::min, 3, 5), 3);
}

// The numbers of the format on both sides of a value, and what is nearer, by long double: wide
// enough for an exact double, or 64 bits of an integer.
template <class T, class From>
void expect_nearest(From value) {
  const auto exact = static_cast<long double>(value);
  const T seen = convert<T>(value);
  const auto distance = [&](std::uint16_t bits) {
    return std::fabs(static_cast<long double>(static_cast<float>(T::from_bits(bits))) - exact);
  };
  const std::uint16_t bits = seen.bits();
  const auto size = static_cast<std::uint16_t>(bits & 0x7fffU);
  ASSERT_FALSE(std::isinf(static_cast<float>(seen))) << exact;
  for (const int step : {-1, 1}) {
    if (size == 0 && step < 0) continue;
    const auto other = static_cast<std::uint16_t>(bits + step);
    if (std::isinf(static_cast<float>(T::from_bits(other)))) continue;
    ASSERT_LE(distance(bits), distance(other)) << exact << " became " << static_cast<float>(seen);
    if (distance(bits) == distance(other)) {
      ASSERT_EQ(bits % 2, 0) << exact << ": the even one of two";
    }
  }
}

// Values that lie beside the middle of two numbers by less than a float can say.
template <class T>
void expect_conversions_of_double() {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100'000; ++i) {
    auto bits = static_cast<std::uint16_t>(random());
    if ((bits & 0x7fffU) >= (std::is_same_v<T, float16> ? 0x7bffU : 0x7f7fU)) continue;
    const auto low = static_cast<double>(static_cast<float>(T::from_bits(bits)));
    const auto high =
        static_cast<double>(static_cast<float>(T::from_bits(static_cast<std::uint16_t>(bits + 1))));
    const double middle = low / 2 + high / 2;
    const double far = std::numeric_limits<double>::infinity();
    for (const double value : {low, middle, std::nextafter(middle, far),
                               std::nextafter(middle, -far), low + (high - low) * 0.3})
      expect_nearest<T>(value);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(convert<T>(std::nan("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(convert<T>(1e300))));
  EXPECT_EQ(convert<T>(1e-300).bits(), 0);
  EXPECT_EQ(convert<T>(-1e-300).bits(), 0x8000);
}

TEST(Convert, DoubleIsRoundedOnce) {
  expect_conversions_of_double<float16>();
  expect_conversions_of_double<bfloat16>();
}

TEST(Convert, IntegersAreRoundedOnce) {
  for (std::int32_t value = -65'503; value < 65'504; ++value) expect_nearest<float16>(value);
  std::mt19937_64 random(13);
  for (int i = 0; i < 100'000; ++i) {
    const auto any = random() >> (random() % 60);
    expect_nearest<bfloat16>(static_cast<std::int64_t>(any));
    expect_nearest<bfloat16>(any);
    // Beside the middle of two numbers, by one in 64 bits.
    const std::uint64_t middle = (std::uint64_t{0x81} + 2 * (random() % 64)) << 55U;
    for (const std::uint64_t value : {middle - 1, middle, middle + 1})
      expect_nearest<bfloat16>(value);
    expect_nearest<bfloat16>(-static_cast<std::int64_t>(middle >> 1U) - 1);
  }
  expect_nearest<bfloat16>(std::numeric_limits<std::int64_t>::min());
  expect_nearest<bfloat16>(std::numeric_limits<std::int64_t>::max());
}

TEST(Convert, BetweenTheOthersAsStaticCast) {
  EXPECT_EQ(convert<std::int32_t>(float16(-2.75F)), -2);
  EXPECT_EQ(convert<double>(bfloat16(1.5F)), 1.5);
  EXPECT_EQ(static_cast<float>(convert<bfloat16>(float16(1.0009765625F))), 1.0F);
  EXPECT_EQ(convert<std::uint8_t>(259), 3);
  EXPECT_EQ(convert<float>(0.1), 0.1F);
}

}  // namespace
}  // namespace muster
