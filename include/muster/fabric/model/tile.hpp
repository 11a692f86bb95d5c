// The model fabric's tile. Included by muster/fabric/model.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster::model {

// The lane's working set of R x C elements; element (r, c) is held by thread (r*C + c) mod threads.
template <class T, std::int64_t R, std::int64_t C>
class Tile : public muster::detail::TileArithmetic<Tile<T, R, C>> {
  static_assert(std::is_trivially_copyable_v<T> && R > 0 && C > 0);

 public:
  using value_type = T;
  static constexpr std::int64_t rows = R;
  static constexpr std::int64_t cols = C;
  static constexpr std::int64_t most_per_thread = R * C;  // threads are known when it runs
  static constexpr int group_size = 1;

  Tile(std::uint32_t thread, std::uint32_t threads)
      : elements_(R * C), thread_(thread), threads_(threads) {}

  template <class Visit>
  void each(Visit&& visit) {
    for (std::int64_t at = thread_; at < R * C; at += threads_)
      visit(at / C, at % C, elements_[static_cast<std::size_t>(at)]);
  }
  template <class Visit>
  void each_group(Visit&& visit) {
    each([&](std::int64_t row, std::int64_t col, T& element) {
      visit(row, col, Group<T, group_size>(&element));
    });
  }
  template <class U, class Visit>
  void zip(const Tile<U, R, C>& other, Visit&& visit) {
    each([&](std::int64_t row, std::int64_t col, T& mine) {
      visit(mine, other.elements_[static_cast<std::size_t>(row * C + col)]);
    });
  }

 private:
  template <class U, std::int64_t R2, std::int64_t C2>
  friend class Tile;
  friend muster::detail::TileArithmetic<Tile>;

  template <class Other, class Op>
  static constexpr bool packs = false;

  template <class U, class Next>
  void update(const Tile<U, R, C>& other, Next next) {
    zip(other, [&](T& mine, U theirs) { mine = next(mine, theirs); });
  }

  std::vector<T> elements_;
  std::uint32_t thread_;
  std::uint32_t threads_;
};

}  // namespace muster::model
