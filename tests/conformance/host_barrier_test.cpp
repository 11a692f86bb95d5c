#include "conformance/barrier_bodies.hpp"
#include "conformance/host_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_barrier_cases = add_host_cases("barrier", barrier_cases<Team>());
}  // namespace muster::conformance
