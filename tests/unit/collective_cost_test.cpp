// What collectives send, counted where there are many messages; and what is refused before anything
// is sent, because it was made for something else.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "muster/barrier.hpp"
#include "muster/collective.hpp"
#include "muster/packet.hpp"
#include "support/counting_fabric.hpp"
#include "support/counting_team.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Op;

constexpr std::int64_t in_a_message = 4;

// One deposit for each message and peer, not one from each rank to each other: with 8 ranks and
// 4,096 messages 28,672, where everybody meeting everybody would take 229,376. Of two messages one
// is answered.
template <Cells cells>
void expect_broadcast(std::uint32_t ranks, std::int64_t messages) {
  using Object = Broadcast<std::int8_t, in_a_message, cells>;
  CountingTeam team(ranks);
  const Object broadcast(team, {.chunk = Object::depth * in_a_message});
  const auto window = *team.window<std::int8_t>({messages * in_a_message});
  for (const std::uint32_t rank : {0U, ranks - 1}) {
    CountingFabric fabric(ranks, Rank{rank});
    ASSERT_EQ(broadcast.run(fabric, window, window, messages * in_a_message, Rank{0}),
              WaitStatus::ok);
    const std::int64_t peers = ranks - 1;
    EXPECT_EQ(fabric.notifies_to_peers(), rank == 0 ? messages * peers : (messages + 1) / 2);
    EXPECT_EQ(fabric.notifies_to_self(),
              cells == Cells::credits ? fabric.count(Op::wait) : std::int64_t{0});
    if (rank != 0) {
      EXPECT_EQ(fabric.count(Op::wait), messages);
    }
  }
}

TEST(CollectiveCost, ABroadcastIsADepositForEachMessageAndPeer) {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks)
    for (const std::int64_t messages : {1, 2, 3, 4, 5, 6, 31}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(messages) + " messages");
      expect_broadcast<Cells::epochs>(ranks, messages);
      expect_broadcast<Cells::credits>(ranks, messages);
    }
  static_assert(4096 * 7 == 28'672);
  expect_broadcast<Cells::epochs>(8, 4096);
}

// A pad of two channels, and a third lane: it touches nothing, in whatever way it calls.
TEST(Unfit, ALaneWithoutAChannelTouchesNothing) {
  for (const std::uint32_t lane : {1U, 2U}) {
    CountingTeam team(3, 4);
    CountingFabric fabric(3, Rank{1}, Profile::direct, 4, Lane{lane});
    const FlipBarrier barrier(pad_rows(*team.signals(6), 3));
    const bool fits = lane < 2;
    const WaitStatus right = fits ? WaitStatus::ok : WaitStatus::invalid;
    EXPECT_EQ(barrier.sync(fabric), right);
    EXPECT_EQ(barrier.wait(fabric, barrier.arrive(fabric)), right);
    EXPECT_EQ(barrier.scoped(fabric,
                             [&](auto& scope) {
                               EXPECT_EQ(scope.sync(), right);
                               scope.arrive();
                               EXPECT_EQ(scope.wait(), right);
                             }),
              right);
    EXPECT_EQ(fabric.count(Op::hand) + fabric.count(Op::take), fits ? 2 * 2 * 4 : 0);
    EXPECT_EQ(fabric.count(Op::set_counter), 0) << "nor does it note anything";
  }
}

TEST(Unfit, AGridThatExpectsNobodyIsRefused) {
  CountingTeam team(2, 3);
  CountingFabric fabric(2, Rank{1}, Profile::rdma, 3, Lane{1});
  const auto grid = GridBarrier(team).expecting(0);
  EXPECT_EQ(grid.post(fabric), WaitStatus::invalid);
  EXPECT_EQ(grid.wait(fabric), WaitStatus::invalid);
  EXPECT_EQ(grid.sync(fabric), WaitStatus::invalid);
  EXPECT_EQ(grid.wait(fabric, grid.arrive(fabric)), WaitStatus::invalid);
  EXPECT_EQ(grid.scoped(fabric, [](auto& scope) { (void)scope.sync(); }), WaitStatus::invalid);
  EXPECT_EQ(fabric.notifies() + fabric.count(Op::wait) + fabric.count(Op::set_counter), 0);
}

template <class Make>
std::string refusal_of(Make&& make) {
  try {
    make();
    return "it was made";
  } catch (const Failure& failure) {
    return failure.error().what;
  }
}

// Numbers of elements whose sets of packets, times lanes and ranks, come round.
TEST(Unfit, PacketExchangesOfNoSize) {
  for (const std::int64_t elements : {INT64_MAX, std::int64_t{-1}, INT64_MIN})
    for (const std::uint32_t ranks : {1U, 2U, 5U}) {
      const auto refused = [&](auto exchange) {
        using Exchange = decltype(exchange);
        CountingTeam team(ranks, 3);
        EXPECT_NE(refusal_of([&] { (void)Exchange(team, elements); })
                      .find("PacketExchange: elements is " + std::to_string(elements) +
                            "; it must be from 0 to "),
                  std::string::npos)
            << ranks;
      };
      refused(PacketExchange<float, 1, 2>{});
      refused(PacketExchange<double, 1, 1>{});
      refused(PacketExchange<double, 4, 4>{});
    }
  CountingTeam team(2, 2);
  EXPECT_EQ((PacketExchange<float, 1, 16>(team, 0).most_tiles()), 1);
  EXPECT_EQ((PacketExchange<float, 1, 16>(team, 33).most_tiles()), 3);
}

}  // namespace
}  // namespace muster
