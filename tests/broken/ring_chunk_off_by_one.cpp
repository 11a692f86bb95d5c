// An all_reduce round a ring whose chunks are counted from `me` on, not from me - 1: the sums that
// come together are those of another chunk than the one they are taken for.
// The second half hands on what was summed, so every rank ends with a wrong chunk, on every
// profile.
//
// The checker must say: expect.
#include "broken.hpp"

namespace muster::broken::ring_chunk_off_by_one {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t /*lanes*/) {
  const std::uint32_t ranks = team.size();
  const std::uint32_t rounds = 2 * (ranks - 1);
  const auto inbox = *team.window<int>({rounds}, "inbox");
  const Signals told = *team.signals(rounds);
  (void)calls;
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const auto number = [](std::uint32_t rank, std::uint32_t chunk) {
      return static_cast<int>(10 * rank + chunk + 1);
    };
    const std::uint32_t me = fabric.rank().value;
    // The one that is dealt with in a round.
    const auto chunk_of = [&](std::uint32_t round) { return (me + 2 * ranks - 1 - round) % ranks; };
    const auto own_of = [&](std::uint32_t round) {
      return (me + 2 * ranks - (fixed ? 1 : 0) - round) % ranks;
    };
    int held = number(me, own_of(0));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      send(fabric, inbox, right_of(fabric), round, held);
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(told[round], right_of(fabric), 1, NotifyOp::set);
        status = fabric.wait(told[round], Compare::ge, 1);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      held = fetch(fabric, inbox, fabric.rank(), round);
      if (round + 1 < ranks) held += number(me, own_of(round + 1));
      if (round + 2 < ranks || fabric.thread() != 0) continue;
      int sum = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += number(rank, chunk_of(round + 1));
      expect(fabric, held == sum, "the sum of a chunk");
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_chunk_off_by_one, expect, .ranks = 3, .calls = 1)

}  // namespace muster::broken::ring_chunk_off_by_one
