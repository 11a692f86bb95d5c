#include "conformance/credit_bodies.hpp"
#include "conformance/host_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_credit_cases = add_host_cases("credit", credit_cases<Team>());
}  // namespace muster::conformance
