// An all_reduce round a ring with one cell for both halves, whose rounds are counted from 1 again
// in the second. Its waits pass on the first half's deposits, before the chunks are there.
//
// The checker must say: race.
#include "hand_ring.hpp"

namespace muster::broken::ring_two_handshakes_on_one_row {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  hand_ring(team, chunk_in, [](std::uint32_t ranks, std::uint32_t round) {
    return Handshake{0, (fixed ? round : round % (ranks - 1)) + 1};
  });
}

}  // namespace

MUSTER_BROKEN(ring_two_handshakes_on_one_row, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::ring_two_handshakes_on_one_row
