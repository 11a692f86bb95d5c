// What a kernel has left in the failure log, as an error.
#pragma once

#include "fabric/gpu/state.hpp"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/result.hpp"

namespace muster::gpu {

// Names the rank, lane, block, peer, cell, what was seen and expected, as far as they are known.
[[nodiscard]] Error error_of(const World::State& state, const ErrorRecord& record);

}  // namespace muster::gpu
