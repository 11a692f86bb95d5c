#include "conformance/hook_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_hook_cases = add_ucx_cases("hook", hook_cases<ucx::Team>());
}  // namespace muster::conformance
