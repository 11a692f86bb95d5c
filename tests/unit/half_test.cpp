// float16 and bfloat16 against a reference that shares no code with them: a sorted table of all
// numbers of the format, in double, in which the nearest is looked up.
#include "muster/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace muster {
namespace {

struct Layout {
  int exponent_bits;
  int fraction_bits;
};

// The value of a finite bit pattern, by the definition of the format.
double value_of(std::uint32_t bits, Layout layout) {
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const auto fraction = bits & ((1U << layout.fraction_bits) - 1);
  const int exponent =
      static_cast<int>(bits >> layout.fraction_bits) & ((1 << layout.exponent_bits) - 1);
  const double leading = exponent == 0 ? 0.0 : std::ldexp(1.0, layout.fraction_bits);
  const int scale = std::max(exponent, 1) - bias - layout.fraction_bits;
  return std::ldexp(leading + fraction, scale);
}

class Reference {
 public:
  explicit Reference(Layout layout) : layout_(layout) {
    const std::uint32_t infinity = ((1U << layout.exponent_bits) - 1) << layout.fraction_bits;
    for (std::uint32_t bits = 0; bits < infinity; ++bits) values_.push_back(value_of(bits, layout));
  }
  [[nodiscard]] std::uint32_t infinity() const {
    return static_cast<std::uint32_t>(values_.size());
  }
  [[nodiscard]] double value(std::uint32_t bits) const { return values_.at(bits); }

  // The nearest pattern; of two equally near ones the even. `value` is finite.
  [[nodiscard]] std::uint16_t nearest(double value) const {
    const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
    const double size = std::fabs(value);
    const auto above = std::lower_bound(values_.begin(), values_.end(), size);
    const auto up = static_cast<std::uint32_t>(above - values_.begin());
    if (up == 0) return static_cast<std::uint16_t>(sign);
    // Beyond the largest number stands what its exponent would make the next: infinity.
    const double upper = up < infinity() ? values_[up] : value_of(infinity(), layout_);
    const double to_upper = upper - size;
    const double to_lower = size - values_[up - 1];
    const bool takes_upper = to_upper < to_lower || (to_upper == to_lower && up % 2 == 0);
    return static_cast<std::uint16_t>(sign | (takes_upper ? up : up - 1));
  }

 private:
  Layout layout_;
  std::vector<double> values_;  // of the patterns 0, 1, ... up to the largest finite one
};

template <class Number>
void expect_matches(const Reference& reference, float value) {
  ASSERT_EQ(Number(value).bits(), reference.nearest(static_cast<double>(value)))
      << value << " (bits " << std::bit_cast<std::uint32_t>(value) << ")";
}

// Each number, the middle to the next one, and the floats beside both: where rounding turns.
template <class Number>
void test_roundings(const Reference& reference) {
  constexpr float huge = std::numeric_limits<float>::max();
  for (std::uint32_t bits = 0; bits < reference.infinity(); ++bits) {
    const double here = reference.value(bits);
    const bool last = bits + 1 == reference.infinity();
    const double step = last ? here - reference.value(bits - 1) : reference.value(bits + 1) - here;
    for (const double point : {here, here + step / 2}) {
      if (point > static_cast<double>(huge)) continue;
      const auto exact = static_cast<float>(point);
      for (const float value : {exact, std::nextafter(exact, huge), std::nextafter(exact, -huge)}) {
        expect_matches<Number>(reference, value);
        expect_matches<Number>(reference, -value);
      }
    }
  }
}

template <class Number>
void test_random(const Reference& reference) {
  std::mt19937 random(7);
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) expect_matches<Number>(reference, value);
  }
}

template <class Number>
void test_all_patterns(const Reference& reference) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto number = Number::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(number);
    const std::uint32_t size = bits & 0x7fffU;
    EXPECT_EQ(std::signbit(value), bits >= 0x8000U);
    if (size < reference.infinity()) {
      ASSERT_EQ(std::fabs(static_cast<double>(value)), reference.value(size)) << bits;
      ASSERT_EQ(Number(value).bits(), bits);
    } else if (size == reference.infinity()) {
      ASSERT_TRUE(std::isinf(value));
      ASSERT_EQ(Number(value).bits(), bits);
    } else {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Number(value)))) << "a NaN became a number";
      ASSERT_FALSE(number == number);
    }
  }
}

template <class Number>
void test_format(Layout layout) {
  const Reference reference(layout);
  test_all_patterns<Number>(reference);
  test_roundings<Number>(reference);
  test_random<Number>(reference);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Number(infinity).bits(), reference.infinity());
  EXPECT_EQ(Number(-infinity).bits(), reference.infinity() | 0x8000U);
  EXPECT_EQ(Number(std::numeric_limits<float>::max()).bits(), reference.infinity());
}

TEST(Half, Float16RoundsToTheNearestEven) {
  test_format<float16>({5, 10});
}
TEST(Half, Bfloat16RoundsToTheNearestEven) {
  test_format<bfloat16>({8, 7});
}

TEST(Half, ComputesAsFloatAndRoundsOnce) {
  constexpr float16 a(1.5F);
  constexpr float16 b(0.25F);
  static_assert(static_cast<float>(a + b) == 1.75F);
  static_assert(static_cast<float>(a - b) == 1.25F);
  static_assert(static_cast<float>(a * b) == 0.375F);
  static_assert(static_cast<float>(a / b) == 6.0F);
  static_assert(-a < b && b > -a && a == float16(1.5F) && a >= b && b <= a);
  EXPECT_EQ(float16(0.0F), -float16(0.0F));
  // 2048 + 1 lies between two numbers of 11 bits: the even one is 2048.
  EXPECT_EQ(static_cast<float>(float16(2048.0F) + float16(1.0F)), 2048.0F);
  EXPECT_EQ(static_cast<float>(float16(2050.0F) + float16(1.0F)), 2052.0F);
  EXPECT_EQ(static_cast<float>(bfloat16(256.0F) + bfloat16(1.0F)), 256.0F);
  EXPECT_EQ(static_cast<float>(bfloat16(258.0F) + bfloat16(1.0F)), 260.0F);
  float16 sum;
  sum += a;
  sum *= float16(2.0F);
  sum -= b;
  sum /= float16(0.5F);
  EXPECT_EQ(static_cast<float>(sum), 5.5F);
}

}  // namespace
}  // namespace muster
