#include "conformance/remote_add_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_remote_add_cases =
    add_ucx_cases("remote_add", remote_add_cases<ucx::Team>());
}  // namespace muster::conformance
