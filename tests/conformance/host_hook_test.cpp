#include "conformance/hook_bodies.hpp"
#include "conformance/host_runner.hpp"

namespace muster::conformance {

[[maybe_unused]] const bool host_hook_cases = add_host_cases("hook", hook_cases<Team>());

}  // namespace muster::conformance
