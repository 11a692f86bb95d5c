#include "conformance/send_receive_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_send_receive_cases =
    add_ucx_cases("send_receive", send_receive_cases<ucx::Team>());
}  // namespace muster::conformance
