// What a protocol does that a check of it does not need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/configuration.hpp"
#include "muster/check.hpp"

namespace muster::check {

// A configuration that holds, on one profile.
struct Holding {
  Options options;
  Report report;
};

// An order that may be relaxed, or an operation that may be left out, alone, and the check still
// holds on every profile that it held on.
struct Hint {
  Repair repair;
  std::vector<Site> with;  // of a wait: the notifies that may then be left out too
  std::string costs;       // what it costs now, or what is saved
};

struct Hints {
  std::vector<Hint> spare;
  std::vector<Hint> undecided;  // not refuted, and not everything was explored
  std::size_t needed = 0;
  std::size_t not_tried = 0;  // Options::halt came before
  [[nodiscard]] std::size_t tried() const { return spare.size() + undecided.size() + needed; }
};

// Tries each order, flush, converge, notify and wait of the protocol, one after the other.
// `progress` is told how many of how many come before the one that is tried now.
[[nodiscard]] Hints hints_for(
    const Entry& entry, const std::vector<Holding>& holding,
    const std::function<void(std::size_t done, std::size_t all)>& progress);

// As text, a line each, with what they hold for.
[[nodiscard]] std::vector<std::string> hint_lines(const Hints& hints,
                                                  const std::vector<Holding>& holding);

}  // namespace muster::check
