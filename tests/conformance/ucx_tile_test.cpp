#include "conformance/tile_bodies.hpp"
#include "conformance/ucx_runner.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool ucx_tile_cases = add_ucx_cases("tile", tile_cases<ucx::Team>());
}  // namespace muster::conformance
