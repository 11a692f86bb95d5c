// Loops in a trace, in few lines.
#pragma once

#include <cstddef>
#include <vector>

#include "muster/check/report.hpp"

namespace muster::check {

// A line for some of the events: those at `of`, in their order.
struct Folded {
  Event event;
  std::vector<std::size_t> of;
};

// Where one thread does the same from one place again and again, with numbers that stay or grow by
// the same step each time, one event stands for all of it: "64 x write data[0..63] of rank 0". A
// loop of up to four such lines is folded too: "64 x in turn: write a[0..63]", "and: write
// b[0..63]". What waited is never folded: it says what it saw. Each event is of one line.
[[nodiscard]] std::vector<Folded> folded(const std::vector<Event>& events);

}  // namespace muster::check
