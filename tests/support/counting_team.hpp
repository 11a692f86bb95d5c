// The team of the counting fabric.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::testing {

// The set-up side of the counting fabric: enough to make barriers and windows from.
class CountingTeam {
 public:
  explicit CountingTeam(std::uint32_t ranks, std::uint32_t lanes = 1)
      : ranks_(ranks), lanes_(lanes) {}

  [[nodiscard]] std::uint32_t size() const { return ranks_; }
  [[nodiscard]] std::uint32_t max_lanes() const { return lanes_; }
  static Result<void> sync() { return {}; }  // there is nobody else

  Result<Rows> rows() {
    const Rows rows{Signal{0, next_cell_}, Counter{0, next_counter_}, lanes_, ranks_};
    next_cell_ += lanes_ * ranks_;
    next_counter_ += lanes_ * Rows::counters_of_lane;
    return rows;
  }
  Result<Signals> signals(std::uint32_t count) {
    const Signals signals{Signal{0, next_cell_}, count};
    next_cell_ += count;
    return signals;
  }
  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents) {
    WindowRef<T> window{.offset = next_byte_, .rows = 1, .cols = 1};
    for (const std::int64_t extent : extents) {
      window.rows *= window.cols;
      window.cols = extent;
    }
    next_byte_ += (static_cast<std::uint64_t>(window.size()) * sizeof(T) + 63) / 64 * 64;
    return window;
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t lanes_;
  std::uint32_t next_cell_ = 0;
  std::uint32_t next_counter_ = 0;
  std::uint64_t next_byte_ = 0;
};

static_assert(SetUpAll<CountingTeam>);

}  // namespace muster::testing
