// Whether calls check what would cost on the hot path.
#pragma once

#include "muster/result.hpp"

namespace muster {

// MUSTER_VERIFY: 1 is yes, 0 is no; where it is not set or empty, yes in a debug build of muster.
// Errors (invalid_argument): anything else.
[[nodiscard]] Result<bool> verifies_by_default();

}  // namespace muster
