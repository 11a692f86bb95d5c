#include "conformance/host_runner.hpp"
#include "conformance/sentinel_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_sentinel_cases =
    add_host_cases("sentinel", sentinel_cases<Team>());
}  // namespace muster::conformance
