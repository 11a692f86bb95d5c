// Sums: what all ranks have, made one, tile by tile.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/reduce.hpp"

namespace muster::detail {

// Two tiles of `width` elements: one for what is read, one in which it is added up. Where sums are
// kept in the elements' own type, they are read and stored from there, without a pass over a tile.
template <class T, std::int64_t width, class F>
class Sums {
 public:
  using Tile = TileOf<F, T, 1, width>;

  MUSTER_FN explicit Sums(F& fabric)
      : tile_(fabric.template tile<T, 1, width>()),
        sums_(fabric.template tile_like<Accumulator<T>>(tile_)) {}

  // For what is only passed on.
  [[nodiscard]] MUSTER_FN Tile& tile() { return tile_; }

  // The operator over what read(rank, tile) reads of each rank, in the order of the ranks: the same
  // bits on every rank. The tile that holds it, rounded once.
  template <class Op, class Read>
  [[nodiscard]] MUSTER_FN Tile& over_ranks(std::uint32_t ranks, Op op, Read&& read) {
    return by_adding(ranks, read, [&](Rank rank, auto& sums, Tile& tile) {
      read(rank, tile);
      sums.combine(tile, op);
    });
  }
  // The same where what a rank has need not pass through a tile: add(rank, sums, tile) makes it
  // part of the sums, by way of the tile or not.
  template <class Read, class Add>
  [[nodiscard]] MUSTER_FN Tile& by_adding(std::uint32_t ranks, Read&& read, Add&& add) {
    begin([&](Tile& tile) { read(Rank{0}, tile); });
    for (std::uint32_t rank = 1; rank < ranks; ++rank) add(Rank{rank}, sums_, tile_);
    return rounded();
  }

 private:
  static constexpr bool in_place = std::is_same_v<T, Accumulator<T>>;

  template <class Read>
  MUSTER_FN void begin(Read&& read) {
    if constexpr (in_place) {
      read(sums_);
    } else {
      read(tile_);
      sums_.assign(tile_);
    }
  }

  [[nodiscard]] MUSTER_FN Tile& rounded() {
    if constexpr (in_place) {
      return sums_;
    } else {
      tile_.assign(sums_);
      return tile_;
    }
  }

  Tile tile_;
  LikeOf<F, Tile, Accumulator<T>> sums_;
};

}  // namespace muster::detail
