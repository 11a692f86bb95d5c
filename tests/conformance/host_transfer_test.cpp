#include "conformance/host_runner.hpp"
#include "conformance/transfer_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_transfer_cases =
    add_host_cases("transfer", transfer_cases<Team>());
}  // namespace muster::conformance
