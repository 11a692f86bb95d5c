// What several measurements of one topic look like as a chart.
#pragma once

#include <vector>

#include "bench/chart.hpp"
#include "bench/contender.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"

namespace muster::bench {

// One table of a command.
struct Measurement {
  Request request;
  Conditions conditions;
  std::vector<Measured> measured;
};

// A line for each contender, and for each variant of a topic that has some: its median over the
// sizes where the runs have several, otherwise over the numbers of ranks. `runs` are of one topic
// and not empty.
[[nodiscard]] Chart chart_of(const Topic& topic, const std::vector<Measurement>& runs);

}  // namespace muster::bench
