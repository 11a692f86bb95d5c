#include "conformance/host_runner.hpp"
#include "conformance/remote_add_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_remote_add_cases =
    add_host_cases("remote_add", remote_add_cases<Team>());
}  // namespace muster::conformance
