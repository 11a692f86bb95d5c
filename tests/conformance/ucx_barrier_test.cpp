#include "conformance/barrier_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_barrier_cases =
    add_ucx_cases("barrier", barrier_cases<ucx::Team>());
}  // namespace muster::conformance
