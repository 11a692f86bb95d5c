#include "conformance/signal_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_signal_cases = add_ucx_cases("signal", signal_cases<ucx::Team>());
}  // namespace muster::conformance
