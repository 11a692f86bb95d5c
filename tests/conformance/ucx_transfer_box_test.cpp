#include "conformance/transfer_box_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_transfer_box_cases =
    add_ucx_cases("transfer_box", transfer_box_cases<ucx::Team>());
}  // namespace muster::conformance
