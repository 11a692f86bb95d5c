#include "conformance/host_runner.hpp"
#include "conformance/packet_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_packet_cases = add_host_cases("packet", packet_cases<Team>());
}  // namespace muster::conformance
