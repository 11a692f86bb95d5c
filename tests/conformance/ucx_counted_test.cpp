#include "conformance/counted_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_counted_cases =
    add_ucx_cases("counted", counted_cases<ucx::Team>());
}  // namespace muster::conformance
