#include "conformance/credit_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_credit_cases = add_ucx_cases("credit", credit_cases<ucx::Team>());
}  // namespace muster::conformance
