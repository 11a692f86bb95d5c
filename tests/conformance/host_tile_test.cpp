#include "conformance/host_runner.hpp"
#include "conformance/tile_bodies.hpp"

namespace muster::conformance {
[[maybe_unused]] const bool host_tile_cases = add_host_cases("tile", tile_cases<Team>());
}  // namespace muster::conformance
