// The host fabric's tile: a piece of memory that fits the cache. Included by
// muster/fabric/host.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "muster/fabric/host/runs.hpp"
#include "muster/fabric/host/tile_blocks.hpp"
#include "muster/fabric/host/vectors.hpp"
#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster::ucx {
class Fabric;  // its lanes work on the same tiles
}

namespace muster::host {

class Fabric;

// R x C elements of T, all held by the lane's one thread.
template <class T, std::int64_t R, std::int64_t C>
class Tile : public muster::detail::TileArithmetic<Tile<T, R, C>> {
  static_assert(R > 0 && C > 0, "a tile has at least one element");

 public:
  using value_type = T;
  static constexpr std::int64_t rows = R;
  static constexpr std::int64_t cols = C;
  static constexpr std::int64_t most_per_thread = R * C;
  // As many side by side as 16 bytes hold and divide a row.
  static constexpr int group_size = [] {
    int size = 1;
    while (static_cast<std::size_t>(2 * size) * sizeof(T) <= 16 && C % (2 * size) == 0) size *= 2;
    return size;
  }();

  Tile() : elements_(new (Blocks::take()) T[R * C]) {}

  template <class Visit>
  void each(Visit&& visit) {
    fill();
    for (std::int64_t row = 0; row < R; ++row) {
      for (std::int64_t col = 0; col < C; ++col) visit(row, col, elements_[index(row, col)]);
    }
  }

  template <class Visit>
  void each_group(Visit&& visit) {
    fill();
    for (std::int64_t row = 0; row < R; ++row) {
      for (std::int64_t col = 0; col < C; col += group_size)
        visit(row, col, Group<T, group_size>(&elements_[index(row, col)]));
    }
  }

  template <class U, class Visit>
  void zip(const Tile<U, R, C>& other, Visit&& visit) {
    fill();
    other.fill();
    T* const mine = elements_.get();
    const U* const theirs = other.elements_.get();
    for (std::int64_t i = 0; i < R * C; ++i) visit(mine[i], theirs[i]);
  }

 private:
  template <class U, std::int64_t R2, std::int64_t C2>
  friend class Tile;
  friend class Fabric;
  friend class ucx::Fabric;
  friend detail::Runs<Fabric>;
  friend muster::detail::TileArithmetic<Tile>;

  // The elements from `filled_` on are T{}, though their memory holds anything: what lies behind a
  // short run costs nothing, until somebody looks at it.
  void fill(std::int64_t count = R * C) const {
    for (; filled_ < count; ++filled_) elements_[static_cast<std::size_t>(filled_)] = T{};
  }

  // The first `count` elements, for whoever reads or changes them.
  [[nodiscard]] T* first(std::int64_t count) const {
    fill(count);
    return elements_.get();
  }

  template <class Other, class Op>
  static constexpr bool packs = detail::has_loop<T, typename Other::value_type, Op>;

  // By a loop for the processor's vector units; none of its operators makes more than 0 of zeros.
  template <class U, class Op>
  void combine_packed(const Tile<U, R, C>& other, Op /*op*/) {
    const std::int64_t count = filled_ < other.filled_ ? other.filled_ : filled_;
    fill(count);
    other.fill(count);
    detail::combine<Op>(elements_.get(), elements_.get(), other.elements_.get(), count);
  }

  // Each element becomes next(element, other's element). Two tiles overlap in nothing, or are one
  // and the same, where an element meets itself: so no turn of the loop needs what another has
  // written, which the compiler cannot see. It vectorises the loop then without looking at the
  // addresses, at -O2 too.
  template <class U, class Next>
  void update(const Tile<U, R, C>& other, Next next) {
    fill();
    other.fill();
    T* const mine = std::assume_aligned<alignment>(elements_.get());
    const U* const theirs = std::assume_aligned<Tile<U, R, C>::alignment>(other.elements_.get());
#pragma GCC ivdep
    for (std::int64_t i = 0; i < R * C; ++i) mine[i] = next(mine[i], theirs[i]);
  }

  [[nodiscard]] static constexpr std::size_t index(std::int64_t row, std::int64_t col) {
    return static_cast<std::size_t>(row * C + col);
  }

  // A tile begins on a cache line: copies of whole lines then touch no more lines than they hold.
  static constexpr std::size_t alignment = alignof(T) < 64 ? 64 : alignof(T);
  using Blocks = detail::TileBlocks<sizeof(T) * R * C, alignment>;
  struct Free {
    void operator()(T* elements) const {
      static_assert(std::is_trivially_destructible_v<T>);
      Blocks::give(elements);
    }
  };
  std::unique_ptr<T[], Free> elements_;
  mutable std::int64_t filled_ = 0;
};

}  // namespace muster::host
