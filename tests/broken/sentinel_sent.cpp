// A number with all bits set, sent as it is: its reader would wait for ever, for that is what the
// slots hold where nothing has come. (A NaN that some computations give.)
//
// The checker must say: contract.
#include "broken.hpp"

namespace muster::broken::sentinel_sent {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto slots = *team.window<SentinelLine>({team.size()}, "slots");
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    auto tile = fabric.template tile<float, 1, 1>();
    tile.each([](std::int64_t, std::int64_t, float& element) {
      element = __builtin_bit_cast(float, ~std::uint32_t{0});
    });
    if (fixed) fabric.replace_sentinel(tile);
    fabric.put_sentinel(slots, right_of(fabric), fabric.rank().value, tile);
    return fabric.wait_sentinel(tile, slots, left_of(fabric).value);
  });
}

}  // namespace

MUSTER_BROKEN(sentinel_sent, contract, .ranks = 2, .calls = 1)

}  // namespace muster::broken::sentinel_sent
