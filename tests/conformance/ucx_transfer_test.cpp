#include "conformance/transfer_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_transfer_cases =
    add_ucx_cases("transfer", transfer_cases<ucx::Team>());
}  // namespace muster::conformance
