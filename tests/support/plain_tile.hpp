// The views and tiles of the counting fabric.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster::testing {

template <class T>
class PlainView {
 public:
  PlainView(T* first, std::int64_t size) : first_(first), size_(size) {}
  [[nodiscard]] T& operator[](std::int64_t index) const { return first_[index]; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  T* first_;
  std::int64_t size_;
};

template <class T, std::int64_t Rows, std::int64_t Cols>
class PlainTile : public muster::detail::TileArithmetic<PlainTile<T, Rows, Cols>> {
 public:
  using value_type = T;
  static constexpr std::int64_t rows = Rows;
  static constexpr std::int64_t cols = Cols;
  static constexpr std::int64_t most_per_thread = Rows * Cols;
  static constexpr int group_size = static_cast<int>(Cols);

  PlainTile() : elements_(static_cast<std::size_t>(Rows * Cols)) {}

  template <class Visit>
  void each(Visit&& visit) {
    for (std::int64_t row = 0; row < Rows; ++row)
      for (std::int64_t col = 0; col < Cols; ++col) visit(row, col, at(row, col));
  }
  template <class Visit>
  void each_group(Visit&& visit) {
    for (std::int64_t row = 0; row < Rows; ++row)
      visit(row, std::int64_t{0}, Group<T, group_size>(&at(row, 0)));
  }
  template <class U, class Visit>
  void zip(const PlainTile<U, Rows, Cols>& other, Visit&& visit) {
    for (std::size_t i = 0; i < elements_.size(); ++i) visit(elements_[i], other.elements_[i]);
  }
  [[nodiscard]] T& at(std::int64_t row, std::int64_t col) {
    return elements_[static_cast<std::size_t>(row * Cols + col)];
  }
  [[nodiscard]] const void* id() const { return elements_.data(); }
  void clear() { std::fill(elements_.begin(), elements_.end(), T{}); }

 private:
  template <class U, std::int64_t Rows2, std::int64_t Cols2>
  friend class PlainTile;
  friend muster::detail::TileArithmetic<PlainTile>;

  template <class Other, class Op>
  static constexpr bool packs = false;
  template <class U, class Next>
  void update(const PlainTile<U, Rows, Cols>& other, Next next) {
    zip(other, [&](T& mine, U theirs) { mine = next(mine, theirs); });
  }

  std::vector<T> elements_;
};

}  // namespace muster::testing
