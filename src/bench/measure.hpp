// Runs the contenders of a topic side by side: in each round every contender runs once, and the
// order turns by one from round to round, so that a drift of the machine meets all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/contender.hpp"

namespace muster::bench {

struct Measured {
  Contender contender;
  std::uint64_t calls = 0;                     // in one block of the next run
  std::vector<std::uint64_t> calls_per_block;  // [round]
  std::vector<Blocks> rounds;                  // ns per call: [round][block]
  std::string why_not;                         // not empty: there are no times, and this says why
  bool failed = false;                         // why_not is a failure, not an absence

  // One number for each round: the median of its blocks.
  [[nodiscard]] std::vector<double> per_round() const;
};

[[nodiscard]] double median(std::vector<double> values);  // of at least one

// The median over the rounds of the ratio within a round, which a drift of the machine does not
// touch. None where one of the two has no times.
[[nodiscard]] std::optional<double> ratio(const Measured& one, const Measured& other);

// The fastest of a role by median; null where none of it has times.
[[nodiscard]] const Measured* fastest(const std::vector<Measured>& all, Role role);

// Told before each run, for a progress line.
using Progress = std::function<void(std::uint32_t round, const std::string& contender)>;

[[nodiscard]] std::vector<Measured> measure(const std::vector<Contender>& contenders,
                                            const Request& request, const std::vector<int>& cores,
                                            const Progress& progress);

}  // namespace muster::bench
