// Messages between two ranks: every pair, types, counts around the edges of tiles and slots, call
// after call with other data each time, ranks delayed at random.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/rooted_bodies.hpp"

namespace muster::conformance {

// The partner of a rank in one of the rounds in which everybody meets everybody, or the rank
// itself: the sum of both is `round`, modulo the number of ranks.
[[nodiscard]] inline Rank partner_in(std::uint32_t round, std::uint32_t rank, std::uint32_t ranks) {
  return Rank{(round + ranks - rank % ranks) % ranks};
}

template <class Team, class T>
Result<void> every_pair(Team& team) {
  const SendReceive<T, collective_tile> pairs(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const auto meet = [&](Rank peer, std::uint32_t round) {
      std::vector<T> from = input_of<T, Sum>(rank, call * 64 + round, count);
      std::vector<T> to = poisoned<T>(count);
      checks.ok(delayed(team, lanes,
                        [&](auto& fabric) {
                          WaitStatus status = WaitStatus::ok;
                          if (rank < peer.value)
                            status = pairs.send(fabric, peer, memory_of(from), count);
                          if (status == WaitStatus::ok)
                            status = pairs.receive(fabric, peer, memory_of(to), count);
                          if (status == WaitStatus::ok && rank > peer.value)
                            status = pairs.send(fabric, peer, memory_of(from), count);
                          return status;
                        }),
                "the call");
      checks.holds(to == input_of<T, Sum>(peer.value, call * 64 + round, count),
                   "what the peer has sent");
    };
    const std::uint32_t round = call % team.size();  // all of them in turn
    const Rank peer = partner_in(round, rank, team.size());
    if (peer != team.rank()) meet(peer, round);
  });
  return checks.done();
}

// On windows, three calls in a row, of other lengths on one lane; nobody waits in between.
template <class Team, class T>
Result<void> round_the_ring(Team& team) {
  constexpr std::int64_t most = 5 * collective_chunk + 9;
  const SendReceive<T, collective_tile> pairs(team, {.chunk = collective_chunk});
  const auto from = *team.template window<T>({most});
  const auto to = *team.template window<T>({most});
  Checks checks;
  if (team.size() == 1) return checks.done();
  each_size([&](std::uint32_t lanes, std::int64_t first_count, std::uint32_t call) {
    const auto body = [&](auto& fabric) -> Result<void> {
      Checks lane;
      Random random = random_of(fabric);
      const Rank right = right_of(fabric);
      const Rank left = left_of(fabric);
      for (std::uint32_t again = 0; again < 3 && lane.done(); ++again) {
        // Lanes whose shares moved would meet each other's.
        const std::int64_t count = first_count + (lanes == 1 ? again : 0);
        const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
        const std::uint32_t turn = 3 * call + again;
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          fabric.local(from)[i] = element_of<T, Sum>(fabric.rank().value, turn, i);
        random_delay(random);
        const bool sends_first = fabric.rank().value % 2 == 0;
        if (sends_first) lane.ok(pairs.send(fabric, right, from, count), "send");
        lane.ok(pairs.receive(fabric, left, to, count), "receive");
        if (!sends_first) lane.ok(pairs.send(fabric, right, from, count), "send");
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          lane.holds(fabric.local(to)[i] == element_of<T, Sum>(left.value, turn, i), "an element");
      }
      return lane.done();
    };
    checks.ok(team.lanes(lanes, body), "the calls");
  });
  return checks.done();
}

// As many messages as there are slots need nobody to receive them yet.
template <class Team>
Result<void> sends_that_wait_for_nobody(Team& team) {
  using Pairs = SendReceive<std::int32_t, collective_tile>;
  const Pairs pairs(team, {.chunk = collective_chunk});
  const std::int64_t count = Pairs::depth * pairs.elements();
  Checks checks;
  if (team.size() == 1) return checks.done();
  const std::uint32_t ranks = team.size();
  for (std::uint32_t call = 0; call < 20; ++call) {
    auto from = input_of<std::int32_t, Sum>(team.rank().value, call, count);
    auto to = poisoned<std::int32_t>(count);
    checks.ok(delayed(team, 1,
                      [&](auto& fabric) {
                        const WaitStatus status =
                            pairs.send(fabric, right_of(fabric), memory_of(from), count);
                        if (status != WaitStatus::ok) return status;
                        return pairs.receive(fabric, left_of(fabric), memory_of(to), count);
                      }),
              "the call");
    const std::uint32_t left = (team.rank().value + ranks - 1) % ranks;
    checks.holds(to == input_of<std::int32_t, Sum>(left, call, count), "what the left has sent");
  }
  return checks.done();
}

template <class Team>
Result<void> send_receive_refuse(Team& team) {
  const SendReceive<float> pairs(team);
  std::vector<float> many(4);
  const MemoryRef<float> all = memory_of(many);
  Checks checks;
  const auto refused = [&](auto&& call, const char* what) {
    WaitStatus status = WaitStatus::ok;
    (void)team.lane([&](auto& fabric) { status = call(fabric); });
    checks.equal(status, WaitStatus::invalid, what);
  };
  const Rank beyond{team.size()};
  refused([&](auto& f) { return pairs.send(f, beyond, all, 4); }, "send to no rank");
  refused([&](auto& f) { return pairs.receive(f, beyond, all, 4); }, "receive from no rank");
  refused([&](auto& f) { return pairs.send(f, f.rank(), all, 4); }, "send to itself");
  refused([&](auto& f) { return pairs.receive(f, f.rank(), all, 4); }, "receive from itself");
  if (team.size() > 1) {
    const Rank other{team.rank().value == 0 ? 1U : 0U};
    refused([&](auto& f) { return pairs.send(f, other, all, 5); }, "more than there is");
    refused([&](auto& f) { return pairs.receive(f, other, all, -1); }, "a negative count");
  }
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> send_receive_cases() {
  return {
      {"PairsFloat", every_pair<Team, float>, Sizes::all},
      {"PairsUint8", every_pair<Team, std::uint8_t>, Sizes::few},
      {"PairsBfloat16", every_pair<Team, bfloat16>, Sizes::few},
      {"PairsDouble", every_pair<Team, double>, Sizes::few},
      {"RoundTheRing", round_the_ring<Team, std::int64_t>, Sizes::all},
      {"SendsThatWaitForNobody", sends_that_wait_for_nobody<Team>, Sizes::all},
      {"SendReceiveRefusals", send_receive_refuse<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
