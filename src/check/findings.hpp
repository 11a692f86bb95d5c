// What has been found wrong with one execution.
#pragma once

#include <cstddef>
#include <vector>

#include "check/clock.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

// Findings in the order in which they are told: causes before their consequences, and of one sort
// as they were found. No two are of one kind in one place on one rank. At most `most` are kept: one
// that is told earlier then takes the place of the last.
class Findings {
 public:
  // Is there room for a finding of this kind? Asked first, where making one costs something.
  [[nodiscard]] bool has_room_for(Kind kind) const;
  // Keeps the finding, whose causal past is that of `past`; false where it is known already, or
  // there is no room.
  bool add(Finding finding, const Clock& past);
  void clear();

  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }
  // Of the finding that is told first.
  [[nodiscard]] const Clock& past() const { return past_; }

 private:
  static constexpr std::size_t most = 24;

  std::vector<Finding> list_;
  Clock past_;
};

}  // namespace muster::check::engine
