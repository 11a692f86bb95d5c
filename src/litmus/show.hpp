// An execution, in words.
#pragma once

#include <string>
#include <vector>

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"

namespace muster::litmus {

// One line for each event, thread by thread, and one for the memory at the end; `finals` holds the
// last write of each location.
[[nodiscard]] std::vector<std::string> show(const Program& program, const Candidate& candidate,
                                            const std::vector<std::size_t>& finals);

// "exists", "~exists" or "forall".
[[nodiscard]] const char* name_of(Quantifier quantifier);

}  // namespace muster::litmus
