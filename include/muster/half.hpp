// float16 and bfloat16: numbers of two bytes for windows, tiles and remote_add, where the compiler
// has none. They are stored as bits and computed with as float; a result is rounded to the nearest,
// to the even one of two. Infinities and NaNs are kept, subnormal numbers too; which bits a NaN has
// beside those that make it one is the processor's affair.
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

// All ones where a < b, which are not negative, otherwise 0. A mask instead of a branch, and
// integers instead of comparisons of floats: so compilers turn a loop of conversions into vector
// instructions.
[[nodiscard]] MUSTER_FN constexpr std::uint32_t below(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((static_cast<std::int32_t>(a) - static_cast<std::int32_t>(b)) >>
                                    31);
}
[[nodiscard]] MUSTER_FN constexpr std::uint32_t pick(std::uint32_t mask, std::uint32_t yes,
                                                     std::uint32_t no) {
  return no ^ ((yes ^ no) & mask);
}

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
struct Binary16 {
  [[nodiscard]] MUSTER_FN static constexpr std::uint16_t from(float value) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return native_from(value);
#endif
    const std::uint32_t all = bits_of(value);
    const std::uint32_t size = all & 0x7fffffffU;
    // Normal: the biases differ by 112, and 13 bits go, rounded to nearest, ties to even. The carry
    // may run into the exponent: that is the next larger number.
    const std::uint32_t normal = (size - 0x38000000U + 0xfffU + ((size >> 13U) & 1U)) >> 13U;
    // Below 2^-14: the addition rounds to units of 2^-24, which are the last bits of 0.5.
    const std::uint32_t subnormal = bits_of(float_of(size) + 0.5F) - 0x3f000000U;
    // A NaN stays one, and becomes quiet.
    const std::uint32_t nan = 0x7e00U | ((size >> 13U) & 0x1ffU);
    std::uint32_t half = pick(below(size, 0x38800000U), subnormal, normal);
    half = pick(below(size, 0x47800000U), half, 0x7c00U);  // infinity from 2^16 on
    half = pick(below(0x7f800000U, size), nan, half);
    return static_cast<std::uint16_t>(half | ((all >> 16U) & 0x8000U));
  }

  [[nodiscard]] MUSTER_FN static constexpr float to(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return native_to(bits);
#endif
    const std::uint32_t size = bits & 0x7fffU;
    const std::uint32_t shifted = size << 13U;
    // Below 2^-14: the fraction behind a leading 1 that is taken away again, exactly.
    const std::uint32_t subnormal = bits_of(float_of(shifted + 0x38800000U) - 0x1p-14F);
    std::uint32_t all = pick(below(size, 0x400U), subnormal, shifted + 0x38000000U);
    all = pick(below(size, 0x7c00U), all, shifted + 0x70000000U);  // infinities and NaNs
    return float_of(all | ((bits & 0x8000U) << 16U));
  }

 private:
#if defined(__CUDA_ARCH__)
  static __device__ std::uint16_t native_from(float value) {
    std::uint16_t bits = 0;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
  static __device__ float native_to(std::uint16_t bits) {
    float value = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
#endif
};

// The upper half of a float: 1 sign, 8 exponent, 7 fraction bits.
struct Brain16 {
  [[nodiscard]] MUSTER_FN static constexpr std::uint16_t from(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!__builtin_is_constant_evaluated()) return native_from(value);
#endif
    const std::uint32_t all = bits_of(value);
    const std::uint32_t size = all & 0x7fffffffU;
    const std::uint32_t rounded = (size + 0x7fffU + ((size >> 16U) & 1U)) >> 16U;
    const std::uint32_t nan = (size >> 16U) | 0x40U;
    return static_cast<std::uint16_t>(pick(below(0x7f800000U, size), nan, rounded) |
                                      ((all >> 16U) & 0x8000U));
  }
  [[nodiscard]] MUSTER_FN static constexpr float to(std::uint16_t bits) {
    return float_of(static_cast<std::uint32_t>(bits) << 16U);
  }

 private:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static __device__ std::uint16_t native_from(float value) {
    std::uint16_t bits = 0;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
#endif
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
