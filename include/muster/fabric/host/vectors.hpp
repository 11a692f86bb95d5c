// Loops over plain memory with the vector units of the processor that runs them, chosen when the
// program starts: a build for any x86-64 is as fast as one for this machine. Included by
// muster/fabric/host/tile.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "muster/reduce.hpp"

namespace muster::host::detail {

template <class... T>
struct TypeList {
  static constexpr int size = sizeof...(T);
  // -1: it is not among them.
  template <class Wanted>
  static constexpr int index_of() {
    int at = 0;
    const bool found = ((std::is_same_v<T, Wanted> || (++at, false)) || ...);
    return found ? at : -1;
  }
};
template <class Mine, class Theirs = Mine>
struct TypePair {};

// What there are loops for: numbers of one type, sums and what they are taken over, and sums
// rounded. The last two are assigned alone.
using LoopTypes =
    TypeList<TypePair<float>, TypePair<double>, TypePair<std::int8_t>, TypePair<std::uint8_t>,
             TypePair<std::int16_t>, TypePair<std::uint16_t>, TypePair<std::int32_t>,
             TypePair<std::uint32_t>, TypePair<std::int64_t>, TypePair<std::uint64_t>,
             TypePair<float, float16>, TypePair<float, bfloat16>, TypePair<float16, float>,
             TypePair<bfloat16, float>>;
using Assign = muster::detail::Assign;
using LoopOperators = TypeList<Sum, Prod, Max, Min, Assign>;

template <class Mine, class Theirs, class Op>
inline constexpr bool has_loop =
    LoopTypes::index_of<TypePair<Mine, Theirs>>() >= 0 && LoopOperators::index_of<Op>() >= 0 &&
    (std::is_same_v<Op, Assign> || std::is_same_v<Mine, Accumulator<Theirs>>);

struct Loops {
  // to[i] = op(mine[i], theirs[i]) for i < count, as TileArithmetic has it: the same bits from each
  // set of loops, but for which NaN a NaN is. `to` is one of the two, or overlaps neither.
  using Combine = void (*)(void* to, const void* mine, const void* theirs, std::int64_t count);
  // `bytes` from one place to another that does not overlap it. Not memcpy: for some sizes that is
  // the processor's string instruction, which takes up to ten times as long where both places lie
  // alike in their pages (seen on AMD Zen 4).
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);

  Combine combine[LoopOperators::size][LoopTypes::size];  // null: there is none
  Copy copy;
};

enum class Vectors : std::uint8_t { baseline, avx2, avx512 };

// Null where the processor has no such unit.
[[nodiscard]] const Loops* loops_for(Vectors vectors);

// Those that are used: the widest that the processor has.
extern const Loops* loops;

// As copy, past the caches; stores that follow wait for it at finish_stream() alone.
void stream(void* to, const void* from, std::size_t bytes);
void finish_stream();

// Loads and stores of a whole block; a memcpy of a constant size is one of each.
template <std::size_t bytes>
struct Block {
  std::byte at[bytes];

  [[nodiscard]] static Block load(const std::byte* from) {
    Block block;
    std::memcpy(block.at, from, bytes);
    return block;
  }
  void store(std::byte* to) const { std::memcpy(to, at, bytes); }
};

// From `half` to 2 * half bytes: a block from the front and one from the back, which may overlap.
template <std::size_t half>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto front = Block<half>::load(from);
  const auto back = Block<half>::load(from + bytes - half);
  front.store(to);
  back.store(to + bytes - half);
}

// Without a call for what fits a cache line: there the call is a large part of the time.
inline void copy(void* to, const void* from, std::size_t bytes) {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  if (bytes > 64)
    loops->copy(to, from, bytes);
  else if (bytes >= 32)
    copy_ends<32>(target, source, bytes);
  else if (bytes >= 16)
    copy_ends<16>(target, source, bytes);
  else if (bytes >= 8)
    copy_ends<8>(target, source, bytes);
  else if (bytes >= 4)
    copy_ends<4>(target, source, bytes);
  else
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
}

template <class Op, class Mine, class Theirs>
inline void combine(Mine* to, const Mine* mine, const Theirs* theirs, std::int64_t count) {
  constexpr int types = LoopTypes::index_of<TypePair<Mine, Theirs>>();
  loops->combine[LoopOperators::index_of<Op>()][types](to, mine, theirs, count);
}

}  // namespace muster::host::detail
