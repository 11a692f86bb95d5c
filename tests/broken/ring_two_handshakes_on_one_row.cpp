// An all_reduce round a ring with one cell for both halves, whose rounds are counted from 1 again
// in the second. Its waits pass on the first half's deposits, before the chunks are there.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::ring_two_handshakes_on_one_row {
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
    const auto chunk_of = [&](std::uint32_t round) { return (me + 2 * ranks - 1 - round) % ranks; };
    const auto value_of = [&](std::uint32_t round) {
      return (fixed ? round : round % (ranks - 1)) + 1;
    };
    int held = number(me, chunk_of(0));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      send(fabric, inbox, right_of(fabric), round, held);
      fabric.converge();
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(told[0], right_of(fabric), value_of(round), NotifyOp::set);
        status = fabric.wait(told[0], Compare::ge, value_of(round));
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      held = fetch(fabric, inbox, fabric.rank(), round);
      if (round + 1 < ranks) held += number(me, chunk_of(round + 1));
      if (round + 2 < ranks || fabric.thread() != 0) continue;
      int sum = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += number(rank, chunk_of(round + 1));
      expect(fabric, held == sum, "the sum of a chunk");
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_two_handshakes_on_one_row, race, .ranks = 3, .calls = 1)

}  // namespace muster::broken::ring_two_handshakes_on_one_row
