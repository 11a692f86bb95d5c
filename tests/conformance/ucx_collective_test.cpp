#include "conformance/collective_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_collective_cases =
    add_ucx_cases("collective", collective_cases<ucx::Team>());
}  // namespace muster::conformance
