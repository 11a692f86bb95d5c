#include "conformance/host_runner.hpp"
#include "conformance/transfer_box_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_transfer_box_cases =
    add_host_cases("transfer_box", transfer_box_cases<Team>());
}  // namespace muster::conformance
