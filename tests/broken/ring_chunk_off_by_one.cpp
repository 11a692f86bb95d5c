// An all_reduce round a ring whose chunks are counted from `me` on, not from me - 1: the sums that
// come together are those of another chunk than the one they are taken for. The second half hands
// on what was summed, so every rank ends with a wrong chunk, on every profile.
//
// The checker must say: expect.
#include "hand_ring.hpp"

namespace muster::broken::ring_chunk_off_by_one {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto own_of = [](std::uint32_t me, std::uint32_t ranks, std::uint32_t round) {
    return chunk_in(fixed ? me : me + 1, ranks, round);
  };
  hand_ring(team, own_of, [](std::uint32_t, std::uint32_t round) { return Handshake{round, 1}; });
}

}  // namespace

MUSTER_BROKEN(ring_chunk_off_by_one, expect, .ranks = 3, .calls = 1)

}  // namespace muster::broken::ring_chunk_off_by_one
