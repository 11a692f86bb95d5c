#include "conformance/host_runner.hpp"
#include "conformance/signal_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_signal_cases = add_host_cases("signal", signal_cases<Team>());
}  // namespace muster::conformance
