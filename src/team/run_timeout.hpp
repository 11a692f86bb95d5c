// How long the waits of a run may take.
#pragma once

#include <chrono>

#include "muster/result.hpp"
#include "muster/run.hpp"

namespace muster {

// The option, or MUSTER_TIMEOUT in seconds, where it is set. Errors (invalid_argument): that is no
// number of seconds.
[[nodiscard]] Result<std::chrono::milliseconds> timeout_of(const RunOptions& options);

}  // namespace muster
