#include "conformance/barrier_lane_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_barrier_lane_cases =
    add_ucx_cases("barrier_lane", barrier_lane_cases<ucx::Team>());
}  // namespace muster::conformance
