// `muster check --all`: every check that is meant to pass, a line each.
#pragma once

#include "check/command.hpp"

namespace muster::check {

// The exit status: the worst of theirs. Throws Usage, or std::system_error
// where there are no processes.
[[nodiscard]] int run_all(const Command& command);

}  // namespace muster::check
