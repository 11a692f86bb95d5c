// The counting fabric itself: what it records is what the cost cards rest on.
#include "support/counting_fabric.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "muster/expect.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Op;

TEST(CountingFabric, RecordsDepositsAndAppliesThoseToItself) {
  CountingFabric fabric(4, Rank{2});
  const Signal signal{0, 7};
  fabric.notify(signal, Rank{2}, 5, NotifyOp::set);
  fabric.notify(signal, Rank{2}, 2, NotifyOp::add, Order::relaxed);
  fabric.notify(signal, Rank{3}, 9, NotifyOp::set);
  EXPECT_EQ(fabric.read(signal), 7U);
  EXPECT_EQ(fabric.notifies_to_self(), 2);
  EXPECT_EQ(fabric.notifies_to_peers(), 1);
  EXPECT_EQ(fabric.log().at(1).order, Order::relaxed);
  EXPECT_EQ(fabric.log().at(2).order, Order::release);
  EXPECT_EQ(fabric.test(signal, Compare::ge, 7), WaitStatus::ok);
  EXPECT_EQ(fabric.test(signal, Compare::gt, 7), WaitStatus::pending);
  fabric.forget();
  EXPECT_EQ(fabric.count(Op::notify), 0);
}

// The text that is checked ships: elsewhere than on the model an expectation is nothing.
TEST(CountingFabric, ExpectIsNothing) {
  CountingFabric fabric(2, Rank{0});
  expect(fabric, false, "never looked at");
  EXPECT_TRUE(fabric.log().empty());
}

TEST(CountingFabric, CountsTheBytesOfTransfersBetweenRanksAlone) {
  CountingTeam team(3);
  CountingFabric fabric(3, Rank{0});
  const auto window = *team.window<float>({3, 5});
  auto tile = fabric.tile<float, 2, 4>();
  fabric.load(tile, window, clip(window, 2, 4, 2, 4));
  EXPECT_EQ(fabric.bytes_moved(), 0);
  fabric.remote_store(tile, window, Rank{1}, clip(window, 2, 4, 2, 4));
  EXPECT_EQ(fabric.bytes_moved(), 4);
  fabric.put(window, Rank{2}, 1, window, 0, 6);
  EXPECT_EQ(fabric.bytes_moved(), 4 + 24);
}

TEST(CountingFabric, TransfersReachTheMemoryThatStandsForThePeer) {
  CountingTeam team(2);
  CountingFabric fabric(2, Rank{0});
  const auto other = *team.window<int>({2});
  const auto window = *team.window<int>({2, 3});
  for (int i = 0; i < 6; ++i) fabric.local(window)[i] = i + 1;
  fabric.put(window, Rank{1}, 0, window, 0, 6);

  auto tile = fabric.tile<int, 2, 2>();
  (void)fabric.remote_load(tile, window, Rank{1}, clip(window, 0, 2, 2, 2));
  std::vector<int> seen;
  tile.each([&](std::int64_t, std::int64_t, int& element) { seen.push_back(element); });
  EXPECT_EQ(seen, (std::vector<int>{3, 0, 6, 0}));

  fabric.remote_add(tile, window, Rank{1}, clip(window, 0, 2, 2, 2));
  EXPECT_EQ(fabric.address(window, Rank{1})[2], 6);
  EXPECT_EQ(fabric.address(window, Rank{1})[5], 12);
  EXPECT_EQ(fabric.local(window)[5], 6);
  EXPECT_EQ(fabric.local(other)[0], 0);
}

TEST(CountingFabric, FetchedOperationsFindWhatTheLastOneLeft) {
  CountingTeam team(2);
  CountingFabric fabric(2, Rank{0});
  const Signals cell = *team.signals(1);
  EXPECT_EQ(fabric.fetch_add(cell[0], Rank{1}, 3).value, 0U);
  EXPECT_EQ(fabric.exchange(cell[0], Rank{1}, 7, Order::release).value, 3U);
  EXPECT_EQ(fabric.compare_swap(cell[0], Rank{1}, 3, 9).value, 7U);
  EXPECT_EQ(fabric.compare_swap(cell[0], Rank{1}, 7, 9, Order::acquire).value, 7U);
  EXPECT_EQ(fabric.read(cell[0]), 9U);
  EXPECT_EQ(fabric.count(Op::fetch_add), 1);
  EXPECT_EQ(fabric.count(Op::exchange), 1);
  EXPECT_EQ(fabric.count(Op::compare_swap), 2);
  EXPECT_EQ(fabric.log()[1].order, Order::release);
  fabric.end_waits_with(WaitStatus::peer_lost);
  EXPECT_EQ(fabric.fetch_add(cell[0], Rank{1}, 1).status, WaitStatus::peer_lost);
}

TEST(CountingFabric, ForEachPeerStartsAtTheRightNeighbour) {
  std::vector<std::uint32_t> seen;
  const CountingFabric fabric(5, Rank{3});
  for_each_peer(fabric, [&](Rank peer) { seen.push_back(peer.value); });
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{4, 0, 1, 2}));
  const CountingFabric alone(1, Rank{0});
  for_each_peer(alone, [&](Rank) { FAIL() << "a team of one has no peers"; });
}

}  // namespace
}  // namespace muster
