#include "conformance/rooted_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_rooted_cases = add_ucx_cases("rooted", rooted_cases<ucx::Team>());
}  // namespace muster::conformance
