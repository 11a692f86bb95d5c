#include "conformance/atomic_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_atomic_cases = add_ucx_cases("atomic", atomic_cases<ucx::Team>());
}  // namespace muster::conformance
