// One line of PendingCost: see tasks.hpp.
#pragma once

#include <cstdint>

#include "bench/tasks/tasks.hpp"
#include "muster/result.hpp"

namespace muster::bench {

[[nodiscard]] Result<PendingCost> measure_pending(std::uint32_t waiters, std::uint32_t repeat);

}  // namespace muster::bench
