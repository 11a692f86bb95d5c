#include "conformance/host_runner.hpp"
#include "conformance/reduce_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_reduce_cases = add_host_cases("reduce", reduce_cases<Team>());
}  // namespace muster::conformance
