// Condition D: does the run that was made stand for all executions?
#pragma once

#include <optional>
#include <string>

#include "check/execution.hpp"

namespace muster::check::engine {

// Judged after a run that ended without a finding. For each wait, with L the deposits that its
// thread had to see, U the deposits of the whole run on its cell that are not causally after it,
// and M what it took: a closed set between L and U satisfies it if and only if it contains M, and
// teaches at least what M taught. For test and read: all closed sets between L and U have one
// outcome. Returns why not, or nothing. docs/proof.md says what follows from it.
[[nodiscard]] std::optional<std::string> why_not_determinate(Execution& run);

}  // namespace muster::check::engine
