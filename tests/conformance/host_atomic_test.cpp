#include "conformance/atomic_bodies.hpp"
#include "conformance/host_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_atomic_cases = add_host_cases("atomic", atomic_cases<Team>());
}  // namespace muster::conformance
