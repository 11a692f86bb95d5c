// float16 and bfloat16: numbers of two bytes for windows, tiles and remote_add, where the compiler
// has none. They are stored as bits and computed with as float; a result is rounded to the nearest,
// to the even one of two. Infinities and NaNs are kept, subnormal numbers too.
#pragma once

#include <cstdint>

#include "muster/types.hpp"

namespace muster {

namespace detail {

[[nodiscard]] MUSTER_FN constexpr std::uint32_t bits_of(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
[[nodiscard]] MUSTER_FN constexpr float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// The bits without the last `drop`, rounded to nearest, ties to even. The carry may run into the
// exponent: that is the next larger number.
[[nodiscard]] MUSTER_FN constexpr std::uint32_t rounded(std::uint32_t bits, std::uint32_t drop) {
  const std::uint32_t below_half = (1U << (drop - 1)) - 1;
  return (bits + below_half + ((bits >> drop) & 1U)) >> drop;
}

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
struct Binary16 {
  [[nodiscard]] MUSTER_FN static constexpr std::uint16_t from(float value) {
    const std::uint32_t all = bits_of(value);
    const std::uint32_t sign = (all >> 16U) & 0x8000U;
    const std::uint32_t size = all & 0x7fffffffU;
    std::uint32_t half = 0;
    if (size > 0x7f800000U) {
      half = 0x7e00U | ((size >> 13U) & 0x1ffU);  // a NaN stays one, and becomes quiet
    } else if (size >= 0x47800000U) {
      half = 0x7c00U;  // from 2^16 on
    } else if (size >= 0x38800000U) {
      half = rounded(size - 0x38000000U, 13);  // normal: the biases differ by 112
    } else if (size >= 0x33000000U) {
      // From 2^-25 on: subnormal, in units of 2^-24; the leading 1 is written out.
      half = rounded((size & 0x7fffffU) | 0x800000U, 126U - (size >> 23U));
    }
    return static_cast<std::uint16_t>(sign | half);
  }

  [[nodiscard]] MUSTER_FN static constexpr float to(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 31) return float_of(sign | 0x7f800000U | (fraction << 13U));
    if (exponent != 0) return float_of(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
};

// The upper half of a float: 1 sign, 8 exponent, 7 fraction bits.
struct Brain16 {
  [[nodiscard]] MUSTER_FN static constexpr std::uint16_t from(float value) {
    const std::uint32_t bits = bits_of(value);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    return static_cast<std::uint16_t>(is_nan ? (bits >> 16U) | 0x40U : rounded16(bits));
  }
  [[nodiscard]] MUSTER_FN static constexpr float to(std::uint16_t bits) {
    return float_of(static_cast<std::uint32_t>(bits) << 16U);
  }

 private:
  [[nodiscard]] MUSTER_FN static constexpr std::uint32_t rounded16(std::uint32_t bits) {
    return rounded(bits & 0x7fffffffU, 16) | ((bits & 0x80000000U) >> 16U);
  }
};

}  // namespace detail

// A number in two bytes, of the given format. All zero bytes are 0.
template <class Format>
class Number16 {
 public:
  Number16() = default;
  MUSTER_FN constexpr explicit Number16(float value) : bits_(Format::from(value)) {}
  [[nodiscard]] MUSTER_FN static constexpr Number16 from_bits(std::uint16_t bits) {
    Number16 number;
    number.bits_ = bits;
    return number;
  }
  [[nodiscard]] MUSTER_FN constexpr std::uint16_t bits() const { return bits_; }
  MUSTER_FN constexpr explicit operator float() const { return Format::to(bits_); }

  friend MUSTER_FN constexpr Number16 operator+(Number16 a, Number16 b) {
    return Number16(static_cast<float>(a) + static_cast<float>(b));
  }
  friend MUSTER_FN constexpr Number16 operator-(Number16 a, Number16 b) {
    return Number16(static_cast<float>(a) - static_cast<float>(b));
  }
  friend MUSTER_FN constexpr Number16 operator*(Number16 a, Number16 b) {
    return Number16(static_cast<float>(a) * static_cast<float>(b));
  }
  friend MUSTER_FN constexpr Number16 operator/(Number16 a, Number16 b) {
    return Number16(static_cast<float>(a) / static_cast<float>(b));
  }
  MUSTER_FN constexpr Number16 operator-() const {
    return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000U));
  }
  MUSTER_FN constexpr Number16& operator+=(Number16 other) { return *this = *this + other; }
  MUSTER_FN constexpr Number16& operator-=(Number16 other) { return *this = *this - other; }
  MUSTER_FN constexpr Number16& operator*=(Number16 other) { return *this = *this * other; }
  MUSTER_FN constexpr Number16& operator/=(Number16 other) { return *this = *this / other; }

  // As floats compare: 0 equals -0, a NaN nothing.
  friend MUSTER_FN constexpr bool operator==(Number16 a, Number16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
  friend MUSTER_FN constexpr bool operator<(Number16 a, Number16 b) {
    return static_cast<float>(a) < static_cast<float>(b);
  }
  friend MUSTER_FN constexpr bool operator>(Number16 a, Number16 b) { return b < a; }
  friend MUSTER_FN constexpr bool operator<=(Number16 a, Number16 b) {
    return static_cast<float>(a) <= static_cast<float>(b);
  }
  friend MUSTER_FN constexpr bool operator>=(Number16 a, Number16 b) { return b <= a; }

 private:
  std::uint16_t bits_ = 0;
};

using float16 = Number16<detail::Binary16>;
using bfloat16 = Number16<detail::Brain16>;

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace muster
