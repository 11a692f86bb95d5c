#include "conformance/barrier_lane_bodies.hpp"
#include "conformance/host_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_barrier_lane_cases =
    add_host_cases("barrier_lane", barrier_lane_cases<Team>());
}  // namespace muster::conformance
