// Which cells a search must try all sets of.
#pragma once

#include <cstdint>
#include <set>

#include "check/cell.hpp"

namespace muster::check::engine {

// What is known about cells over all executions of one exploration: the search treats one as
// value-sensitive once anything but adds and growing sets, awaited with ge or gt, was seen of it;
// once there is such a cell, so is each that several threads read. What is known only grows.
class Sensitivity {
 public:
  void mark(const Cell& cell) { changed_ = cells_.insert(key(cell)).second || changed_; }
  void mark_several(const Cell& cell) { changed_ = several_.insert(key(cell)).second || changed_; }

  [[nodiscard]] bool any() const { return !cells_.empty(); }
  [[nodiscard]] bool has(const Cell& cell) const {
    return cells_.contains(key(cell)) || (any() && several_.contains(key(cell)));
  }
  // Has more become known since it was settled?
  [[nodiscard]] bool changed() const { return changed_; }
  void settle() { changed_ = false; }

 private:
  static std::uint64_t key(const Cell& cell) {
    return (std::uint64_t{cell.rank} << 32U) | cell.number;
  }

  std::set<std::uint64_t> cells_;
  std::set<std::uint64_t> several_;  // cells with more than one reading thread
  bool changed_ = false;
};

}  // namespace muster::check::engine
