#include "conformance/reduce_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_reduce_cases = add_ucx_cases("reduce", reduce_cases<ucx::Team>());
}  // namespace muster::conformance
