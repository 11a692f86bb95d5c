#include "conformance/packet_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_packet_cases = add_ucx_cases("packet", packet_cases<ucx::Team>());
}  // namespace muster::conformance
