// The pattern of bits that says that nothing has come, and SentinelExchange: what it costs, which
// slots it uses and clears.
#include "muster/sentinel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "muster/collective/sentinel_all_reduce.hpp"
#include "support/counting_fabric.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Event;
using testing::Op;

static_assert(HasSentinel<float> && HasSentinel<double> && HasSentinel<float16>);
static_assert(!HasSentinel<std::int32_t> && !HasSentinel<std::uint16_t> && !HasSentinel<char>);

template <class T, class Bits>
void expect_one_pattern(Bits replaced) {
  const T sentinel = __builtin_bit_cast(T, static_cast<Bits>(~Bits{0}));
  EXPECT_TRUE(is_sentinel(sentinel));
  EXPECT_FALSE(sentinel == sentinel) << "it is a NaN";
  const T other = without_sentinel(sentinel);
  EXPECT_EQ(__builtin_bit_cast(Bits, other), replaced);
  EXPECT_FALSE(other == other) << "and so is what is sent for it";
  for (const Bits bits : {Bits{0}, replaced, static_cast<Bits>(~Bits{0} - 1),
                          static_cast<Bits>(~Bits{0} ^ (Bits{1} << (sizeof(T) * 8 - 2)))}) {
    const T number = __builtin_bit_cast(T, bits);
    EXPECT_FALSE(is_sentinel(number));
    EXPECT_EQ(__builtin_bit_cast(Bits, without_sentinel(number)), bits);
  }
}

TEST(Sentinel, IsOneNaNOfEachType) {
  expect_one_pattern<float, std::uint32_t>(0x7fffffffU);
  expect_one_pattern<double, std::uint64_t>(0x7fffffffffffffffU);
  expect_one_pattern<float16, std::uint16_t>(0x7fffU);
  expect_one_pattern<bfloat16, std::uint16_t>(0x7fffU);
}

TEST(Sentinel, LinesHoldATileOfAnyType) {
  EXPECT_EQ(sentinel_lines<float>(1, 16), 1);
  EXPECT_EQ(sentinel_lines<float>(1, 17), 2);
  EXPECT_EQ(sentinel_lines<double>(2, 8), 2);
  EXPECT_EQ(sentinel_lines<bfloat16>(1, 32), 1);
  EXPECT_EQ(sentinel_lines<bfloat16>(1, 17), 2) << "each by itself in a word";
}

template <std::uint32_t sets>
void expect_slots() {
  using Slots = SentinelExchange<float, 1, 10, sets>;
  constexpr std::uint32_t ranks = 3;
  constexpr std::int64_t most = 25;  // three tiles
  CountingTeam team(ranks, 2);
  CountingFabric fabric(ranks, Rank{1}, Profile::rdma, 2, Lane{1});
  const Slots exchange(team, most);
  EXPECT_EQ(exchange.most_tiles(), 3);
  EXPECT_EQ(exchange.slots().size(), std::int64_t{sets} * 2 * ranks * 3);
  std::vector<std::set<std::uint32_t>> read(6), cleared(6);
  for (std::uint32_t number = 0; number < 6; ++number) {
    fabric.forget();
    auto tile = fabric.tile<float, 1, 10>();
    const std::uint32_t call = exchange.begin(fabric, most);
    EXPECT_EQ(call, number);
    for (std::int64_t index = 0; index < 3; ++index)
      for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, call, peer, tile, index); });
    exchange.sent(fabric, call);
    WaitStatus status = WaitStatus::ok;
    for (std::int64_t index = 0; index < 3; ++index)
      for_each_peer(fabric, [&](Rank peer) {
        status = worst(status, exchange.wait(fabric, call, peer, tile, index));
      });
    EXPECT_EQ(exchange.end(fabric, call, status), WaitStatus::ok);
    EXPECT_EQ(fabric.count(Op::put_sentinel), 2 * 3);
    EXPECT_EQ(fabric.count(Op::wait_sentinel), 2 * 3);
    EXPECT_EQ(fabric.count(Op::clear_sentinel), 2 * 3);
    EXPECT_EQ(fabric.notifies() + fabric.count(Op::wait) + fabric.count(Op::flush), 0);
    for (const Event& event : fabric.log()) {
      if (event.op == Op::wait_sentinel) read[number].insert(event.signal.cell);
      if (event.op == Op::clear_sentinel) cleared[number].insert(event.signal.cell);
    }
    EXPECT_EQ(read[number].size(), 6U) << "no two tiles share a slot";
  }
  for (std::uint32_t number = 1; number < 6; ++number) {
    EXPECT_EQ(cleared[number], sets == 2 ? read[number] : read[number - 1]);
    if (number >= sets) {
      EXPECT_EQ(read[number], read[number - sets]);
    }
    EXPECT_NE(read[number], read[number - 1]);
  }
}

TEST(Sentinel, TwoSetsAreClearedInPlace) {
  expect_slots<2>();
}
TEST(Sentinel, ThreeSetsAreClearedAhead) {
  expect_slots<3>();
}

// 3 * 2^30 calls, and then from 0 again: both numbers of sets divide it.
TEST(Sentinel, TheCountComesRound) {
  CountingTeam team(2, 1);
  CountingFabric fabric(2, Rank{0});
  const SentinelExchange<float, 1, 4> exchange(team);
  const Counter counter = exchange.counts().epoch(Lane{0});
  fabric.set_counter(counter, (3U << 30U) - 1);
  const std::uint32_t call = exchange.begin(fabric);
  exchange.sent(fabric, call);
  EXPECT_EQ(exchange.end(fabric, call, WaitStatus::ok), WaitStatus::ok);
  EXPECT_EQ(fabric.counter(counter), 0U);
}

TEST(Sentinel, ACallThatFailsIsTheLast) {
  CountingTeam team(2, 1);
  CountingFabric fabric(2, Rank{0});
  using Slots = SentinelExchange<float, 1, 4>;
  const Slots exchange(team);
  const std::uint32_t call = exchange.begin(fabric);
  exchange.sent(fabric, call);
  EXPECT_EQ(exchange.end(fabric, call, WaitStatus::expired), WaitStatus::expired);
  auto tile = fabric.tile<float, 1, 4>();
  fabric.forget();
  EXPECT_EQ(exchange.begin(fabric), Slots::no_call);
  exchange.put(fabric, Slots::no_call, Rank{1}, tile);
  EXPECT_EQ(fabric.count(Op::put_sentinel), 0);
  EXPECT_EQ(exchange.wait(fabric, Slots::no_call, Rank{1}, tile), WaitStatus::refused);
  EXPECT_EQ(exchange.end(fabric, Slots::no_call, WaitStatus::ok), WaitStatus::refused);
}

TEST(CostCard, SentinelAllReduceIsOneTilePerPeerAndNoSignal) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
    CountingTeam team(ranks, 2);
    CountingFabric fabric(ranks, Rank{ranks - 1}, Profile::rdma, 2, Lane{1});
    const auto data = *team.window<float>({40});
    const SentinelAllReduce<float, 8> sum(team, 40);
    EXPECT_EQ(sum.run(fabric, data, data, 40), WaitStatus::ok);  // lane 1 has tiles 1 and 3 of 5
    EXPECT_EQ(fabric.count(Op::put_sentinel), 2 * (ranks - 1));
    EXPECT_EQ(fabric.count(Op::wait_sentinel), 2 * (ranks - 1));
    EXPECT_EQ(fabric.count(Op::launch_wait), 1);
    EXPECT_EQ(fabric.count(Op::launch_done), 1);
    EXPECT_EQ(fabric.notifies() + fabric.count(Op::wait) + fabric.count(Op::flush), 0);
    fabric.forget();
    EXPECT_EQ(sum.run(fabric, data, data, 41), WaitStatus::invalid);
    EXPECT_EQ(sum.run(fabric, data, data, 8), WaitStatus::ok);
    EXPECT_EQ(fabric.count(Op::put_sentinel), 0) << "the one tile is lane 0's";
  }
}

}  // namespace
}  // namespace muster
