// The cost cards of the barriers in rounds and of those that several lanes of a rank share.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "muster/barrier.hpp"
#include "support/counting_fabric.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Event;
using testing::Op;

constexpr std::uint32_t rank_counts[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 64};

std::vector<Event> only(const CountingFabric& fabric, Op op) {
  std::vector<Event> chosen;
  for (const Event& event : fabric.log())
    if (event.op == op) chosen.push_back(event);
  return chosen;
}

std::size_t first(const CountingFabric& fabric, Op op) {
  const auto& log = fabric.log();
  const auto found =
      std::find_if(log.begin(), log.end(), [&](const Event& event) { return event.op == op; });
  return static_cast<std::size_t>(found - log.begin());
}

TEST(CostCard, DisseminationBarrierIsOneNotifyAndOneWaitPerRound) {
  for (const std::uint32_t ranks : rank_counts) {
    for (const std::uint32_t rank : {0U, ranks / 2, ranks - 1}) {
      SCOPED_TRACE(::testing::Message() << "rank " << rank << " of " << ranks);
      CountingTeam team(ranks);
      CountingFabric fabric(ranks, Rank{rank});
      const DisseminationBarrier barrier(team);
      const auto rounds = static_cast<std::int64_t>(std::bit_width(ranks - 1));
      for (std::uint32_t call = 1; call <= 3; ++call) {
        fabric.forget();
        EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
        EXPECT_EQ(fabric.notifies_to_peers(), rounds);
        EXPECT_EQ(fabric.notifies_to_self(), 0);
        EXPECT_EQ(fabric.count(Op::wait), rounds);
        EXPECT_EQ(fabric.count(Op::converge), 2);
        EXPECT_EQ(fabric.count(Op::flush), 0);
        EXPECT_EQ(fabric.count(Op::counter), 1);
        EXPECT_EQ(fabric.count(Op::set_counter), 1);
        EXPECT_EQ(fabric.bytes_moved(), 0);
        EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{0})), call);
      }
    }
  }
}

// Each round has another peer to each side, so each cell has one writer; a wait comes before the
// next round's notify, and never after it.
TEST(CostCard, DisseminationBarrierAlternatesDistinctPeers) {
  for (const std::uint32_t ranks : rank_counts) {
    CountingTeam team(ranks);
    CountingFabric fabric(ranks, Rank{ranks / 2});
    const DisseminationBarrier barrier(team);
    ASSERT_EQ(barrier.sync(fabric), WaitStatus::ok);
    std::vector<std::uint32_t> targets;
    std::vector<std::uint32_t> cells;
    bool may_wait = false;
    for (const Event& event : fabric.log()) {
      if (event.op == Op::notify) {
        EXPECT_FALSE(may_wait) << "two notifies without a wait between them";
        EXPECT_EQ(event.order, Order::release);
        EXPECT_EQ(event.signal.cell, barrier.rows().from(Lane{0}, fabric.rank()).cell);
        targets.push_back(event.peer->value);
        may_wait = true;
      } else if (event.op == Op::wait) {
        EXPECT_TRUE(may_wait);
        EXPECT_EQ(event.order, Order::acquire);
        cells.push_back(event.signal.cell);
        may_wait = false;
      }
    }
    for (auto* values : {&targets, &cells}) {
      std::sort(values->begin(), values->end());
      EXPECT_EQ(std::unique(values->begin(), values->end()), values->end());
    }
  }
}

TEST(CostCard, DisseminationAndGridFlushOnceBelowDirect) {
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    const auto expect_flush = [&](const auto& barrier) {
      CountingFabric fabric(5, Rank{2}, profile, 2);
      EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
      EXPECT_EQ(fabric.count(Op::flush), profile < Profile::direct ? 1 : 0);
      if (profile < Profile::direct) {
        EXPECT_LT(first(fabric, Op::flush), first(fabric, Op::notify));
      }
    };
    CountingTeam team(5, 2);
    expect_flush(DisseminationBarrier(team));
    expect_flush(GridBarrier(team));
  }
}

// What a wait has acquired, the next notify carries on; the first speaks for this lane alone.
TEST(CostCard, DisseminationBarrierCarriesOnWhatItAcquired) {
  const auto orders = [](BarrierUse use) {
    CountingTeam team(16);
    CountingFabric fabric(16, Rank{3});
    EXPECT_EQ(DisseminationBarrier(team).sync(fabric, use), WaitStatus::ok);
    std::vector<Order> notifies;
    for (const Event& event : only(fabric, Op::notify)) notifies.push_back(event.order);
    for (const Event& event : only(fabric, Op::wait)) EXPECT_EQ(event.order, use.wait);
    return notifies;
  };
  constexpr Order release = Order::release;
  constexpr Order relaxed = Order::relaxed;
  EXPECT_EQ(orders(use::full), (std::vector{release, release, release, release}));
  EXPECT_EQ(orders(use::entry), (std::vector{relaxed, release, release, release}));
  EXPECT_EQ(orders(use::exit), (std::vector{relaxed, relaxed, relaxed, relaxed}));
}

// A rank that has not heard from its left must not say that it has.
TEST(CostCard, DisseminationBarrierStopsAtAFailedWait) {
  CountingTeam team(16);
  CountingFabric fabric(16, Rank{0});
  const DisseminationBarrier barrier(team);
  fabric.end_waits_with(WaitStatus::expired);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::expired);
  EXPECT_EQ(fabric.notifies(), 1);
  EXPECT_EQ(fabric.count(Op::wait), 1);
  EXPECT_EQ(fabric.count(Op::converge), 2) << "a failed wait must not skip a converge";
  EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{0})), 1U);
}

TEST(CostCard, GridBarrierIsOneNotifyAndOneWaitPerLane) {
  for (const std::uint32_t lanes : {1U, 2U, 3U, 8U}) {
    for (const std::uint32_t lane : {0U, lanes - 1}) {
      SCOPED_TRACE(::testing::Message() << "lane " << lane << " of " << lanes);
      CountingTeam team(5, 8);
      CountingFabric fabric(5, Rank{2}, Profile::direct, lanes, Lane{lane});
      const GridBarrier barrier(team);
      const std::int64_t some = lanes > 1 ? 1 : 0;
      for (std::uint32_t call = 1; call <= 3; ++call) {
        fabric.forget();
        EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
        EXPECT_EQ(fabric.notifies_to_peers(), 0);
        EXPECT_EQ(fabric.notifies_to_self(), some);
        EXPECT_EQ(fabric.count(Op::wait), some);
        EXPECT_EQ(fabric.count(Op::converge), 2);
        for (const Event& event : only(fabric, Op::notify)) {
          EXPECT_EQ(event.notify, NotifyOp::add);
          EXPECT_EQ(event.scope, Scope::device);
        }
        for (const Event& event : only(fabric, Op::wait)) {
          EXPECT_EQ(event.value, call * lanes);
          EXPECT_EQ(event.scope, Scope::device);
        }
      }
    }
  }
}

// The lanes that run move the counters of those that do not, each by one lane, so that all agree.
TEST(CostCard, GridBarrierKeepsTheLanesThatDoNotRunInStep) {
  constexpr std::uint32_t most = 8;
  CountingTeam team(2, most);
  const GridBarrier barrier(team);
  for (const std::uint32_t lanes : {2U, 3U, 5U, 8U}) {
    std::vector<int> written(most, 0);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      CountingFabric fabric(2, Rank{0}, Profile::direct, lanes, Lane{lane});
      ASSERT_EQ(barrier.sync(fabric), WaitStatus::ok);
      for (std::uint32_t other = 0; other < most; ++other)
        if (fabric.counter(barrier.rows().epoch(Lane{other})) == lanes) ++written[other];
      EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{lane})), lanes);
    }
    EXPECT_EQ(written, std::vector<int>(most, 1)) << lanes << " lanes";
  }
}

// Who arrives notifies once, who waits waits once, for all arrivals of the call, however many lanes
// run; each part counts on for itself alone.
TEST(CostCard, GridBarrierWithArrivalsIsANotifyOrAWait) {
  constexpr std::uint32_t arrivals = 3;
  for (const std::uint32_t lanes : {1U, 2U, 8U}) {
    CountingTeam team(5, 8);
    CountingFabric fabric(5, Rank{2}, Profile::rdma, lanes, Lane{lanes - 1});
    const auto barrier = GridBarrier(team).expecting(arrivals);
    std::uint32_t sum = 0;
    const auto costs = [&](auto&& part, std::int64_t notifies, std::int64_t waits) {
      fabric.forget();
      EXPECT_EQ(part(), WaitStatus::ok);
      sum += arrivals;
      EXPECT_EQ(fabric.notifies_to_peers(), 0);
      EXPECT_EQ(fabric.notifies_to_self(), notifies);
      EXPECT_EQ(fabric.count(Op::wait), waits);
      EXPECT_EQ(fabric.count(Op::flush), notifies);
      EXPECT_EQ(fabric.count(Op::converge), 2);
      EXPECT_EQ(fabric.count(Op::set_counter), 1);
      for (const Event& event : only(fabric, Op::notify)) EXPECT_EQ(event.value, 1U);
      for (const Event& event : only(fabric, Op::wait)) EXPECT_EQ(event.value, sum);
      EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{lanes - 1})), sum);
    };
    for (int turn = 0; turn < 2; ++turn) {
      costs([&] { return barrier.post(fabric); }, 1, 0);
      costs([&] { return barrier.wait(fabric); }, 0, 1);
      costs([&] { return barrier.sync(fabric); }, 1, 1);
      costs([&] { return barrier.wait(fabric, barrier.arrive(fabric)); }, 1, 1);
    }
    fabric.end_waits_with(WaitStatus::expired);
    EXPECT_EQ(barrier.wait(fabric), WaitStatus::expired);
    fabric.forget();
    EXPECT_EQ(barrier.post(fabric), WaitStatus::refused);
    EXPECT_EQ(barrier.wait(fabric), WaitStatus::refused);
    EXPECT_EQ(fabric.notifies() + fabric.count(Op::wait), 0);
  }
}

TEST(CostCard, SystemBarrierIsAnExchangeAndAMeeting) {
  for (const std::uint32_t ranks : rank_counts) {
    for (const std::uint32_t lanes : {1U, 3U}) {
      SCOPED_TRACE(::testing::Message() << ranks << " ranks, " << lanes << " lanes");
      CountingTeam team(ranks, 4);
      CountingFabric fabric(ranks, Rank{ranks - 1}, Profile::rdma, lanes, Lane{lanes - 1});
      const SystemBarrier barrier(team);
      const std::int64_t meeting = lanes > 1 ? 1 : 0;
      for (int call = 0; call < 3; ++call) {
        fabric.forget();
        EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
        EXPECT_EQ(fabric.notifies_to_peers(), ranks - 1);
        EXPECT_EQ(fabric.notifies_to_self(), meeting);
        EXPECT_EQ(fabric.count(Op::wait), ranks - 1 + meeting);
        EXPECT_EQ(fabric.count(Op::converge), 2 + meeting);
        EXPECT_EQ(fabric.count(Op::flush), 0);
        EXPECT_EQ(fabric.bytes_moved(), 0);
      }
    }
  }
}

TEST(CostCard, SystemBarrierMeetsOnlyAfterAGoodExchange) {
  CountingTeam team(3, 2);
  CountingFabric fabric(3, Rank{0}, Profile::direct, 2);
  const SystemBarrier barrier(team);
  fabric.end_waits_with(WaitStatus::expired);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::expired);
  EXPECT_EQ(fabric.notifies_to_self(), 0);
  EXPECT_EQ(fabric.count(Op::converge), 4) << "a failed wait must not skip a converge";
}

// A loop reads the counters once and writes them once; its calls cost what they cost outside.
template <class Barrier>
void expect_scoped(std::int64_t counters) {
  CountingTeam team(5, 3);
  CountingFabric fabric(5, Rank{1}, Profile::direct, 3);
  const Barrier barrier(team);
  ASSERT_EQ(barrier.sync(fabric), WaitStatus::ok);
  const std::int64_t notifies = fabric.notifies();
  const std::int64_t waits = fabric.count(Op::wait);
  const std::int64_t converges = fabric.count(Op::converge);
  const std::int64_t written = fabric.count(Op::set_counter);
  fabric.forget();
  constexpr std::int64_t calls = 7;
  const WaitStatus met = barrier.scoped(fabric, [&](auto& scope) {
    for (std::int64_t call = 1; call < calls; ++call) EXPECT_EQ(scope.sync(), WaitStatus::ok);
    scope.arrive();
    EXPECT_EQ(scope.wait(), WaitStatus::ok);
  });
  EXPECT_EQ(met, WaitStatus::ok);
  EXPECT_EQ(fabric.notifies(), calls * notifies);
  EXPECT_EQ(fabric.count(Op::wait), calls * waits);
  EXPECT_EQ(fabric.count(Op::converge), calls * converges + 1);
  EXPECT_EQ(fabric.count(Op::counter), counters);
  EXPECT_EQ(fabric.count(Op::set_counter), written);
  EXPECT_EQ(fabric.log().back().op, Op::converge);

  // The next call outside the loop goes on where the loop ended.
  const std::uint32_t last = only(fabric, Op::wait).back().value;
  const std::uint32_t step = last / static_cast<std::uint32_t>(calls + 1);
  fabric.forget();
  ASSERT_EQ(barrier.sync(fabric), WaitStatus::ok);
  EXPECT_EQ(only(fabric, Op::wait).back().value, last + step);

  fabric.forget();
  EXPECT_EQ(barrier.scoped(fabric, [](auto&) {}), WaitStatus::ok);
  EXPECT_EQ(fabric.count(Op::set_counter), 0) << "a loop without a call changes nothing";

  fabric.end_waits_with(WaitStatus::peer_lost);
  EXPECT_EQ(barrier.scoped(fabric, [](auto& scope) { (void)scope.sync(); }), WaitStatus::peer_lost);
}

TEST(CostCard, ScopedLoopsReadAndWriteTheCountersOnce) {
  expect_scoped<EpochBarrier>(1);
  expect_scoped<CounterBarrier>(2);  // the sum, and whether it is to be refused
  expect_scoped<DisseminationBarrier>(1);
  expect_scoped<GridBarrier>(2);
  expect_scoped<SystemBarrier>(3);
  expect_scoped<Barrier>(1);
}

TEST(CostCard, BarrierChoosesByTheNumberOfRanks) {
  for (const std::uint32_t ranks : rank_counts) {
    CountingTeam team(ranks);
    const Barrier chosen(team);
    EXPECT_EQ(chosen.algorithm(), BarrierAlgorithm::flat) << "nobody says that cores suffice";
    EXPECT_EQ(barrier_algorithm(ranks, false), BarrierAlgorithm::flat);
    EXPECT_EQ(barrier_algorithm(ranks, true),
              ranks < 12 ? BarrierAlgorithm::flat : BarrierAlgorithm::dissemination);
    const Barrier with_cores(*team.rows(), BarrierAlgorithm::automatic, true);
    EXPECT_EQ(with_cores.algorithm(), barrier_algorithm(ranks, true));
    for (const auto algorithm : {BarrierAlgorithm::flat, BarrierAlgorithm::dissemination}) {
      const Barrier barrier(team, algorithm);
      CountingFabric fabric(ranks, Rank{0});
      EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
      EXPECT_EQ(fabric.notifies(), algorithm == BarrierAlgorithm::flat
                                       ? static_cast<std::int64_t>(ranks) - 1
                                       : std::bit_width(ranks - 1));
    }
  }
}

}  // namespace
}  // namespace muster
