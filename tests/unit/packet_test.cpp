// PacketExchange: what it costs, which slots it uses, and what it does when the count comes round.
#include "muster/packet.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "support/counting_fabric.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Event;
using testing::Op;

using Exchange = PacketExchange<float, 3, 5>;
constexpr std::int64_t lines = 2;  // 15 elements at 8 bytes

TEST(Packet, LinesHoldATileOfAnyType) {
  EXPECT_EQ(packet_lines<float>(15), lines);
  EXPECT_EQ(packet_lines<float>(8), 1);
  EXPECT_EQ(packet_lines<float>(9), 2);
  EXPECT_EQ(packet_lines<double>(4), 1);
  EXPECT_EQ(packet_lines<double>(5), 2);
  EXPECT_EQ(packet_lines<std::int8_t>(8), 1);
  EXPECT_EQ(packet_lines<std::int16_t>(9), 2);
}

WaitStatus call(CountingFabric& fabric, const Exchange& exchange) {
  auto mine = fabric.tile<float, 3, 5>();
  auto theirs = fabric.tile<float, 3, 5>();
  const std::uint32_t flag = exchange.begin(fabric);
  WaitStatus status = WaitStatus::ok;
  for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, mine); });
  for_each_peer(fabric, [&](Rank peer) {
    status = worst(status, exchange.wait(fabric, flag, peer, theirs));
  });
  return exchange.end(fabric, flag, status);
}

// Tiles of a call: at least one, none shares a slot with another, and the two sets are apart.
TEST(CostCard, PacketExchangeOfRunsIsAsManyTilesPerPeerAsTheyFill) {
  using Runs = PacketExchange<float, 1, 10>;
  constexpr std::int64_t lines_of_tile = 2;
  EXPECT_EQ(Runs::tiles(0), 1);
  EXPECT_EQ(Runs::tiles(10), 1);
  EXPECT_EQ(Runs::tiles(11), 2);
  EXPECT_EQ(Runs::box(1, 11).col, 10);
  EXPECT_EQ(Runs::box(1, 11).cols, 1);
  EXPECT_EQ(Runs::box(0, 11).cols, 10);
  EXPECT_EQ(Runs::box(1, 10).cols, 0);
  CountingTeam team(3, 2);
  CountingFabric fabric(3, Rank{1}, Profile::rdma, 2, Lane{1});
  const Runs exchange(team, 25);
  EXPECT_EQ(exchange.most_tiles(), 3);
  EXPECT_EQ(exchange.slots().size(), 2 * 2 * 3 * 3 * lines_of_tile);
  std::set<std::uint32_t> places;
  for (int round = 0; round < 2; ++round)
    for (const std::int64_t count : {25, 0}) {
      fabric.forget();
      auto tile = fabric.tile<float, 1, 10>();
      const std::uint32_t flag = exchange.begin(fabric, count);
      WaitStatus status = WaitStatus::ok;
      for (std::int64_t index = 0; index < Runs::tiles(count); ++index)
        for_each_peer(fabric, [&](Rank peer) {
          exchange.put(fabric, flag, peer, tile, index);
          status = worst(status, exchange.wait(fabric, flag, peer, tile, index));
        });
      EXPECT_EQ(exchange.end(fabric, flag, status), WaitStatus::ok);
      EXPECT_EQ(fabric.count(Op::put_packets), 2 * Runs::tiles(count));
      EXPECT_EQ(fabric.count(Op::wait_packets), 2 * Runs::tiles(count));
      EXPECT_EQ(fabric.notifies() + fabric.count(Op::wait) + fabric.count(Op::flush), 0);
      for (const Event& event : fabric.log())
        if (event.op == Op::put_packets) places.insert(event.signal.cell);
    }
  EXPECT_EQ(places.size(), 3U + 1U) << "three tiles of one set, one of the other";
  for (const std::uint32_t place : places) EXPECT_EQ(place % lines_of_tile, 0U);
}

TEST(CostCard, PacketExchangeIsOneTilePerPeerAndNoSignal) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
    CountingTeam team(ranks, 2);
    CountingFabric fabric(ranks, Rank{ranks - 1}, Profile::rdma, 2, Lane{1});
    const Exchange exchange(team);
    for (std::uint32_t round = 1; round <= 3; ++round) {
      fabric.forget();
      EXPECT_EQ(call(fabric, exchange), WaitStatus::ok);
      EXPECT_EQ(fabric.count(Op::put_packets), ranks - 1);
      EXPECT_EQ(fabric.count(Op::wait_packets), ranks - 1);
      EXPECT_EQ(fabric.notifies(), 0);
      EXPECT_EQ(fabric.count(Op::wait), 0);
      EXPECT_EQ(fabric.count(Op::flush), 0);
      for (const Event& event : fabric.log())
        if (event.op == Op::put_packets || event.op == Op::wait_packets) {
          EXPECT_EQ(event.value, round);
          EXPECT_EQ(event.bytes, 60);
        }
    }
  }
}

// No two of lane, writer and parity share a slot, and none lies outside the window.
TEST(Packet, SlotsAreApart) {
  constexpr std::uint32_t ranks = 3;
  CountingTeam team(ranks, 2);
  const Exchange exchange(team);
  std::set<std::uint32_t> places;
  for (const std::uint32_t lane : {0U, 1U}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      CountingFabric fabric(ranks, Rank{rank}, Profile::direct, 2, Lane{lane});
      for (int round = 0; round < 2; ++round) {
        fabric.forget();
        ASSERT_EQ(call(fabric, exchange), WaitStatus::ok);
        std::set<std::uint32_t> own;
        for (const Event& event : fabric.log())
          if (event.op == Op::put_packets) own.insert(event.signal.cell);
        ASSERT_EQ(own.size(), 1U) << "a writer has the same place at every reader";
        EXPECT_TRUE(places.insert(*own.begin()).second);
        EXPECT_EQ(*own.begin() % lines, 0U);
        EXPECT_LE(*own.begin() + lines, exchange.slots().size());
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(places.size()) * lines, exchange.slots().size());
}

// The count comes round: a barrier, cleared slots, a barrier, and 1, never 0.
TEST(Packet, SlotsAreClearedBeforeTheCountComesRound) {
  CountingTeam team(2, 2);
  CountingFabric fabric(2, Rank{0}, Profile::direct, 2, Lane{1});
  const Exchange exchange(team);
  fabric.set_counter(exchange.counts().epoch(Lane{1}), 0xfffffffeU);
  ASSERT_EQ(call(fabric, exchange), WaitStatus::ok);
  EXPECT_EQ(fabric.count(Op::clear_packets), 0);
  fabric.forget();
  ASSERT_EQ(call(fabric, exchange), WaitStatus::ok);
  ASSERT_EQ(fabric.count(Op::clear_packets), 1);
  std::vector<Op> order;
  for (const Event& event : fabric.log()) {
    if (event.op == Op::notify || event.op == Op::clear_packets) order.push_back(event.op);
    if (event.op == Op::put_packets) {
      EXPECT_EQ(event.value, 1U);
      order.push_back(event.op);
    }
    if (event.op == Op::clear_packets) {
      EXPECT_EQ(event.signal.cell, 4 * lines) << "the second lane's";
      EXPECT_EQ(event.bytes, 4 * lines * 64) << "both sets, of both writers";
    }
  }
  EXPECT_EQ(order, (std::vector{Op::notify, Op::clear_packets, Op::notify, Op::put_packets}));
}

TEST(Packet, AFailedWaitReachesTheCaller) {
  CountingTeam team(3);
  CountingFabric fabric(3, Rank{0});
  const Exchange exchange(team);
  fabric.end_waits_with(WaitStatus::peer_lost);
  EXPECT_EQ(call(fabric, exchange), WaitStatus::peer_lost);
  fabric.end_waits_with(WaitStatus::ok);
  EXPECT_EQ(call(fabric, exchange), WaitStatus::refused);
}

}  // namespace
}  // namespace muster
