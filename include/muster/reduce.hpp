// Arithmetic on tiles: operators, the type that sums are kept in, conversions. Plain values and
// functors that know no fabric; the fabrics' tiles are made with them.
//
//   auto sums = fabric.tile_like<Accumulator<T>>(mine);  // float for float16 and bfloat16
//   sums.assign(mine);
//   for (each peer) { (void)fabric.remote_load(theirs, ...); sums.combine(theirs, Sum{}); }
//   mine.assign(sums);                                   // rounded once
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/half.hpp"
#include "muster/types.hpp"

namespace muster {

// ---- operators ----------------------------------------------------------------------------------
//
// Associative and commutative, but for the rounding of floats. An operator of one's own is any
// functor of two elements that keeps no state; in a kernel it is annotated MUSTER_FN.

namespace detail {

template <class T>
inline constexpr bool is_number16 = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// What integers of T are computed with, so that they wrap: 65535 * 65535 is no int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

}  // namespace detail

// Integers wrap. float16 and bfloat16 are added as floats, and the sum is rounded.
struct Sum {
  template <class T>
  [[nodiscard]] MUSTER_FN constexpr T operator()(T a, T b) const {
    static_assert(!std::is_same_v<T, bool>, "a sum of bool means nothing: use an integer");
    using U = detail::Wrapping<T>;
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    else
      return static_cast<T>(a + b);
  }
};

// Integers wrap.
struct Prod {
  template <class T>
  [[nodiscard]] MUSTER_FN constexpr T operator()(T a, T b) const {
    static_assert(!std::is_same_v<T, bool>, "a product of bool means nothing: use an integer");
    using U = detail::Wrapping<T>;
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    else
      return static_cast<T>(a * b);
  }
};

// As `a < b` says: where one of them is a NaN, or both are equal (0 and -0 are), the first.
struct Max {
  template <class T>
  [[nodiscard]] MUSTER_FN constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// As `b < a` says: where one of them is a NaN, or both are equal, the first.
struct Min {
  template <class T>
  [[nodiscard]] MUSTER_FN constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

// act(operator) for one that is chosen at run time: the choice is made once, before any loop.
template <class Act>
MUSTER_FN constexpr decltype(auto) with_operator(ReduceOp op, Act&& act) {
  switch (op) {
    case ReduceOp::prod: return act(Prod{});
    case ReduceOp::max: return act(Max{});
    case ReduceOp::min: return act(Min{});
    case ReduceOp::sum: break;
  }
  return act(Sum{});
}

// The type that sums of T are kept in, and rounded from once.
template <class T>
using Accumulator = std::conditional_t<detail::is_number16<T>, float, T>;

// ---- conversions --------------------------------------------------------------------------------

namespace detail {

// A double as a float that still says on which side of every shorter number it lies (rounded to
// odd): rounding it once more gives what rounding the double would have given.
[[nodiscard]] MUSTER_FN constexpr float odd_float(double value) {
  const auto near = static_cast<float>(value);
  const auto back = static_cast<double>(near);
  const std::uint32_t bits = bits_of(near);
  if (!(back < value || value < back) || (bits & 0x7fffffffU) == 0x7f800000U) return near;
  const bool is_larger = value < 0 ? back < value : back > value;  // in size
  return float_of((is_larger ? bits - 1 : bits) | 1U);
}

// An integer as a double that is exact, or rounded to odd where 53 bits do not hold it.
template <class T>
[[nodiscard]] MUSTER_FN constexpr double odd_double(T value) {
  if constexpr (sizeof(T) > 4) {
    const bool is_negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    std::uint64_t size = is_negative ? 0 - bits : bits;
    constexpr std::uint64_t dropped = 0x7ffU;
    if ((size >> 53U) != 0) size = (size & ~dropped) | ((size & dropped) != 0 ? dropped + 1 : 0);
    return is_negative ? -static_cast<double>(size) : static_cast<double>(size);
  } else {
    return static_cast<double>(value);
  }
}

}  // namespace detail

// As static_cast converts, and between all types: to float16 and bfloat16 rounded once, to the
// nearest, also from double and from integers. To an integer: towards zero, and what it cannot hold
// must not be converted.
template <class To, class From>
[[nodiscard]] MUSTER_FN constexpr To convert(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (detail::is_number16<From> && std::is_arithmetic_v<To>)
    return static_cast<To>(static_cast<float>(value));
  else if constexpr (detail::is_number16<From> && detail::is_number16<To>)
    return To(static_cast<float>(value));
  else if constexpr (detail::is_number16<To> && std::is_same_v<From, double>)
    return To(detail::odd_float(value));
  else if constexpr (detail::is_number16<To> && std::is_integral_v<From>)
    return To(detail::odd_float(detail::odd_double(value)));
  else
    return static_cast<To>(value);
}

// ---- tiles --------------------------------------------------------------------------------------

// `count` elements that one thread holds side by side in a row of a tile.
template <class T, int count>
class Group {
 public:
  using value_type = T;
  static constexpr int size = count;

  MUSTER_FN constexpr explicit Group(T* first) : first_(first) {}
  [[nodiscard]] MUSTER_FN constexpr T& operator[](int index) const { return first_[index]; }
  [[nodiscard]] MUSTER_FN constexpr T* data() const { return first_; }

 private:
  T* first_;
};

namespace detail {

// The operator of assign(), where a fabric asks for what it has a loop of its own.
struct Assign {};

// What every fabric's tile can do beyond each(): made from its zip(), or from what it does better.
template <class Tile>
class TileArithmetic {
 public:
  // Each element becomes op(element, other's element), converted to the type of this tile, in the
  // thread that holds both. `other` is this tile's like (fabric.tile_like), of any element type;
  // `op` is a functor without state, or a ReduceOp.
  template <class Other, class Op>
  MUSTER_FN void combine(const Other& other, Op op) {
    using T = typename Tile::value_type;
    if constexpr (std::is_same_v<Op, ReduceOp>) {
      with_operator(op, [&](auto chosen) { combine(other, chosen); });
    } else if constexpr (Tile::template packs<Other, Op>) {
      self().combine_packed(other, op);
    } else {
      self().update(other, [op](T mine, auto theirs) {
        return static_cast<T>(op(mine, muster::convert<T>(theirs)));
      });
    }
  }

  // Each element becomes its like's, converted (muster::convert).
  template <class Other>
  MUSTER_FN void assign(const Other& other) {
    using T = typename Tile::value_type;
    if constexpr (Tile::template packs<Other, Assign>)
      self().combine_packed(other, Assign{});
    else
      self().update(other, [](T, auto theirs) { return muster::convert<T>(theirs); });
  }

 private:
  [[nodiscard]] MUSTER_FN Tile& self() { return static_cast<Tile&>(*this); }
};

}  // namespace detail

}  // namespace muster
