// Two numbers of 16 bits in a word, computed with by one instruction each.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "muster/half.hpp"
#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster::gpu::detail {

template <class Op>
inline constexpr bool is_operator = std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod> ||
                                    std::is_same_v<Op, Max> || std::is_same_v<Op, Min>;

// Is there something to gain for tiles of T and an operator?
template <class T, class Op>
inline constexpr bool has_packed = muster::detail::is_number16<T>&& is_operator<Op>;

// One after the other: on a host, and where the processor has no such instruction.
template <class T, class Op>
[[nodiscard]] MUSTER_FN std::uint32_t packed_apart(Op op, std::uint32_t a, std::uint32_t b) {
  const auto part = [&](std::uint32_t shift) {
    const auto bits = [&](std::uint32_t word) { return static_cast<std::uint16_t>(word >> shift); };
    return std::uint32_t{op(T::from_bits(bits(a)), T::from_bits(bits(b))).bits()} << shift;
  };
  return part(0) | part(16);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

// What operator+ and operator* of the type would give: a float holds the sum or product of two such
// numbers so closely that rounding it rounds the exact one.
[[nodiscard]] inline __device__ std::uint32_t packed_f16(Sum, std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
[[nodiscard]] inline __device__ std::uint32_t packed_f16(Prod, std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// a * 1 + b and a * b + -0: there is no bare addition before compute capability 9.0.
[[nodiscard]] inline __device__ std::uint32_t packed_bf16(Sum, std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  asm("fma.rn.bf16x2 %0, %1, %3, %2;" : "=r"(sum) : "r"(a), "r"(b), "r"(0x3f803f80U));
  return sum;
}
[[nodiscard]] inline __device__ std::uint32_t packed_bf16(Prod, std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000U));
  return product;
}

// b where it is larger (less), otherwise a: max and min of the processor treat a NaN differently.
[[nodiscard]] inline __device__ std::uint32_t packed_f16(Max, std::uint32_t a, std::uint32_t b) {
  std::uint32_t larger = 0;
  asm("{\n\t.reg .pred p, q;\n\t.reg .b16 al, ah, bl, bh;\n\t"
      "setp.lt.f16x2 p|q, %1, %2;\n\t"
      "mov.b32 {al, ah}, %1;\n\tmov.b32 {bl, bh}, %2;\n\t"
      "selp.b16 al, bl, al, p;\n\tselp.b16 ah, bh, ah, q;\n\t"
      "mov.b32 %0, {al, ah};\n\t}"
      : "=r"(larger)
      : "r"(a), "r"(b));
  return larger;
}
[[nodiscard]] inline __device__ std::uint32_t packed_f16(Min, std::uint32_t a, std::uint32_t b) {
  std::uint32_t less = 0;
  asm("{\n\t.reg .pred p, q;\n\t.reg .b16 al, ah, bl, bh;\n\t"
      "setp.lt.f16x2 p|q, %2, %1;\n\t"
      "mov.b32 {al, ah}, %1;\n\tmov.b32 {bl, bh}, %2;\n\t"
      "selp.b16 al, bl, al, p;\n\tselp.b16 ah, bh, ah, q;\n\t"
      "mov.b32 %0, {al, ah};\n\t}"
      : "=r"(less)
      : "r"(a), "r"(b));
  return less;
}
// As floats, which are a shift away.
template <class Op>
[[nodiscard]] __device__ std::uint32_t packed_bf16(Op op, std::uint32_t a, std::uint32_t b) {
  return packed_apart<bfloat16>(op, a, b);
}

#endif

// op of the lower and of the upper halves.
template <class T, class Op>
[[nodiscard]] MUSTER_FN std::uint32_t packed(Op op, std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float16>)
    return packed_f16(op, a, b);
  else
    return packed_bf16(op, a, b);
#else
  return packed_apart<T>(op, a, b);
#endif
}

}  // namespace muster::gpu::detail
