// An all_reduce round a ring by hand, for the protocols that have one fault in it.
#pragma once

#include "broken.hpp"

namespace muster::broken {

// Rank r's own number of a chunk.
constexpr int number_of(std::uint32_t rank, std::uint32_t chunk) {
  return static_cast<int>(10 * rank + chunk + 1);
}

// The chunk that a rank sends in a round, and in the round before has received: me - 1 - round.
constexpr std::uint32_t chunk_in(std::uint32_t me, std::uint32_t ranks, std::uint32_t round) {
  return (me + 2 * ranks - 1 - round) % ranks;
}

// P-1 rounds of summing and P-1 of handing on. own_of(me, ranks, round): the chunk whose own number
// a rank adds; handshake(ranks, round): the cell that tells of a round, and its value there.
struct Handshake {
  std::uint32_t cell;
  std::uint32_t value;
};
template <class Own, class Tell>
void hand_ring(Team& team, Own own_of, Tell handshake) {
  const std::uint32_t ranks = team.size();
  const std::uint32_t rounds = 2 * (ranks - 1);
  const auto inbox = *team.window<int>({rounds}, "inbox");
  const Signals told = *team.signals(rounds);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t me = fabric.rank().value;
    int held = number_of(me, own_of(me, ranks, 0U));
    for (std::uint32_t round = 0; round < rounds; ++round) {
      send(fabric, inbox, right_of(fabric), round, held);
      fabric.converge();
      const Handshake tells = handshake(ranks, round);
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        fabric.notify(told[tells.cell], right_of(fabric), tells.value, NotifyOp::set);
        status = fabric.wait(told[tells.cell], Compare::ge, tells.value);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      held = fetch(fabric, inbox, fabric.rank(), round);
      if (round + 1 < ranks) held += number_of(me, own_of(me, ranks, round + 1));
      if (round + 2 < ranks || fabric.thread() != 0) continue;
      int sum = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        sum += number_of(rank, chunk_in(me, ranks, round + 1));
      expect(fabric, held == sum, "the sum of a chunk");
    }
    return WaitStatus::ok;
  });
}

}  // namespace muster::broken
