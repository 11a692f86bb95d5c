// The verdict of the PTX memory model on a litmus test, by enumeration of its candidate executions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"

namespace muster::litmus {

struct Verdict {
  // exists: the outcome can be reached; not_exists: it cannot; forall: every execution satisfies
  // it.
  bool holds = false;
  // Some execution satisfies the axioms; where none does (a deadlock), forall and not_exists hold.
  bool executable = false;
  // What `holds` rests on: the execution that satisfies exists, or one against not_exists or
  // forall. One line for each event; empty where there is none.
  std::vector<std::string> execution;
  Reached reached;

  // Whether executions that were not looked at could change it.
  [[nodiscard]] bool bounded() const {
    return execution.empty() && (reached.candidates_cut || reached.events_cut ||
                                 reached.orders_cut || reached.seconds_cut);
  }
  // As bounded(), for loops that go on longer than Bounds::turns.
  [[nodiscard]] bool loops_cut() const { return execution.empty() && reached.turns_cut; }
};

// Does the model allow an execution in which program order and reads-from make a circle (load
// buffering), within the bounds? True also where they end before it is known.
[[nodiscard]] bool has_circle(const Program& program, const Bounds& bounds = {});

[[nodiscard]] Verdict enumerate(const Program& program, const Bounds& bounds = {});

}  // namespace muster::litmus
