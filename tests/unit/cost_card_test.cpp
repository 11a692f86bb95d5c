// The cost cards of the barriers, as their docstrings state them, counted on one rank of P.
#include <gtest/gtest.h>

#include <algorithm>

#include "muster/barrier.hpp"
#include "support/counting_fabric.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::CountingTeam;
using testing::Event;
using testing::Op;

constexpr std::uint32_t sizes[] = {1, 2, 3, 5, 8, 16, 64};

// Runs `check(fabric, barrier, P)` for a fresh barrier at each size and some ranks of it.
template <class Barrier, class Check>
void for_all_sizes(Profile profile, Check check) {
  for (const std::uint32_t ranks : sizes) {
    for (const std::uint32_t rank : {0U, ranks / 2, ranks - 1}) {
      SCOPED_TRACE(::testing::Message() << "rank " << rank << " of " << ranks);
      CountingTeam team(ranks);
      CountingFabric fabric(ranks, Rank{rank}, profile);
      const Barrier barrier(team);
      check(fabric, barrier, static_cast<std::int64_t>(ranks));
    }
  }
}

// Of all barriers: no bytes, and every deposit for peers stands behind a converge and before the
// first wait; the last thing is a converge.
void expect_well_formed(const CountingFabric& fabric) {
  EXPECT_EQ(fabric.bytes_moved(), 0);
  ASSERT_FALSE(fabric.log().empty());
  EXPECT_EQ(fabric.log().back().op, Op::converge);
  bool converged = false;
  bool waited = false;
  for (const Event& event : fabric.log()) {
    converged = converged || event.op == Op::converge;
    waited = waited || event.op == Op::wait || event.op == Op::take;
    const bool speaks =
        (event.op == Op::notify && *event.peer != fabric.rank()) || event.op == Op::hand;
    if (speaks) {
      EXPECT_TRUE(converged) << "a deposit before the lane has converged";
      EXPECT_FALSE(waited) << "a deposit to a peer after a wait";
      EXPECT_EQ(event.order, Order::release);
    }
  }
}

TEST(CostCard, EpochBarrierIsOneNotifyAndOneWaitPerPeer) {
  for_all_sizes<EpochBarrier>(Profile::direct, [](auto& fabric, const auto& barrier, auto ranks) {
    for (std::uint32_t call = 1; call <= 3; ++call) {
      fabric.forget();
      EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
      EXPECT_EQ(fabric.notifies_to_peers(), ranks - 1);
      EXPECT_EQ(fabric.notifies_to_self(), 0);
      EXPECT_EQ(fabric.count(Op::wait), ranks - 1);
      EXPECT_EQ(fabric.count(Op::converge), 2);
      EXPECT_EQ(fabric.count(Op::flush), 0);
      EXPECT_EQ(fabric.count(Op::counter), 1);
      EXPECT_EQ(fabric.count(Op::set_counter), 1);
      EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{0})), call);
    }
    fabric.forget();
    EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
    expect_well_formed(fabric);
  });
}

TEST(CostCard, EpochBarrierNeedsNoFlushOnAnyProfile) {
  for_all_sizes<EpochBarrier>(Profile::rdma, [](auto& fabric, const auto& barrier, auto) {
    EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
    EXPECT_EQ(fabric.count(Op::flush), 0);
  });
}

TEST(CostCard, CreditBarrierTakesBackWhatItWaitedFor) {
  for_all_sizes<CreditBarrier>(Profile::direct, [](auto& fabric, const auto& barrier, auto ranks) {
    EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
    EXPECT_EQ(fabric.notifies_to_peers(), ranks - 1);
    EXPECT_EQ(fabric.notifies_to_self(), ranks - 1);
    EXPECT_EQ(fabric.count(Op::wait), ranks - 1);
    EXPECT_EQ(fabric.count(Op::converge), 2);
    EXPECT_EQ(fabric.count(Op::counter), 1) << "whether it is to be refused";
    EXPECT_EQ(fabric.count(Op::set_counter), 0);
    expect_well_formed(fabric);
    for (const Event& event : fabric.log()) {
      if (event.op == Op::notify) {
        EXPECT_EQ(event.notify, NotifyOp::add) << "a set could wipe the next call's credit";
        EXPECT_EQ(event.value, *event.peer == fabric.rank() ? ~0U : 1U);
      }
    }
  });
}

TEST(CostCard, CreditBarrierTakesNothingBackAfterAFailedWait) {
  for_all_sizes<CreditBarrier>(Profile::direct, [](auto& fabric, const auto& barrier, auto ranks) {
    fabric.end_waits_with(WaitStatus::expired);
    EXPECT_EQ(barrier.sync(fabric), ranks == 1 ? WaitStatus::ok : WaitStatus::expired);
    EXPECT_EQ(fabric.notifies_to_self(), 0);
    EXPECT_EQ(fabric.count(Op::converge), ranks == 1 ? 2 : 3)
        << "a failed wait must not skip a converge; one more follows the note of it";
  });
}

TEST(CostCard, FlipBarrierIsOneHandAndOneTakePerPeer) {
  for_all_sizes<FlipBarrier>(Profile::direct, [](auto& fabric, const auto& barrier, auto ranks) {
    EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
    EXPECT_EQ(fabric.count(Op::hand), ranks - 1);
    EXPECT_EQ(fabric.count(Op::take), ranks - 1);
    EXPECT_EQ(fabric.count(Op::notify), 0);
    EXPECT_EQ(fabric.count(Op::wait), 0);
    EXPECT_EQ(fabric.count(Op::converge), 2);
    expect_well_formed(fabric);
  });
}

TEST(CostCard, CounterBarrierWaitsOnce) {
  for_all_sizes<CounterBarrier>(Profile::direct, [](auto& fabric, const auto& barrier, auto ranks) {
    for (std::int64_t call = 1; call <= 3; ++call) {
      fabric.forget();
      EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
      EXPECT_EQ(fabric.notifies_to_peers(), ranks - 1);
      EXPECT_EQ(fabric.notifies_to_self(), 0);
      EXPECT_EQ(fabric.count(Op::wait), 1);
      EXPECT_EQ(fabric.count(Op::flush), 0);
      expect_well_formed(fabric);
      EXPECT_EQ(fabric.counter(barrier.rows().epoch(Lane{0})), call * (ranks - 1));
    }
  });
}

TEST(CostCard, CounterBarrierFlushesOnceBelowDirect) {
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    for_all_sizes<CounterBarrier>(profile, [&](auto& fabric, const auto& barrier, auto ranks) {
      EXPECT_EQ(barrier.sync(fabric), WaitStatus::ok);
      EXPECT_EQ(fabric.count(Op::flush), profile < Profile::direct ? 1 : 0);
      const auto& log = fabric.log();
      const auto first = [&](Op op) {
        return std::find_if(log.begin(), log.end(), [&](const Event& e) { return e.op == op; });
      };
      if (profile < Profile::direct && ranks > 1) {
        EXPECT_LT(first(Op::flush), first(Op::notify))
            << "the deposits must not overtake the flush";
      }
    });
  }
}

// Each of the three relaxed uses weakens what it says, and nothing else about the cost.
TEST(CostCard, RelaxedUsesChangeOrdersAlone) {
  constexpr std::uint32_t ranks = 5;
  const auto orders = [](BarrierUse chosen) {
    CountingTeam team(ranks);
    CountingFabric fabric(ranks, Rank{1});
    EXPECT_EQ(EpochBarrier(team).sync(fabric, chosen), WaitStatus::ok);
    EXPECT_EQ(fabric.notifies_to_peers(), ranks - 1);
    EXPECT_EQ(fabric.count(Op::wait), ranks - 1);
    for (const Event& event : fabric.log()) {
      if (event.op == Op::notify) {
        EXPECT_EQ(event.order, chosen.notify);
      } else if (event.op == Op::wait) {
        EXPECT_EQ(event.order, chosen.wait);
      }
    }
  };
  orders(use::full);
  orders(use::entry);
  orders(use::exit);
  orders(use::rendezvous);
  EXPECT_EQ(use::entry.notify, Order::relaxed);
  EXPECT_EQ(use::entry.wait, Order::acquire);
}

// An expired wait is never taken for success, and no converge is skipped because of it. One that
// must not be called again deposits nothing then, whatever has become of the waits.
template <class Barrier>
void expect_failure_passes_through(bool survives) {
  CountingTeam team(4);
  const Barrier barrier(team);
  for (const WaitStatus status :
       {WaitStatus::expired, WaitStatus::aborted, WaitStatus::peer_lost}) {
    CountingFabric fabric(4, Rank{0});
    fabric.end_waits_with(status);
    EXPECT_EQ(barrier.sync(fabric), status);
    EXPECT_EQ(fabric.count(Op::converge), survives ? 2 : 3);
    fabric.forget();
    fabric.end_waits_with(WaitStatus::ok);
    EXPECT_EQ(barrier.sync(fabric), survives ? WaitStatus::ok : WaitStatus::refused);
    const std::int64_t deposits = fabric.notifies() + fabric.count(Op::hand);
    EXPECT_EQ(deposits != 0, survives);
    EXPECT_EQ(fabric.count(Op::converge), survives ? 2 : 1);
  }
}

TEST(CostCard, AFailedWaitReachesTheCallerOfEveryBarrier) {
  expect_failure_passes_through<EpochBarrier>(true);
  expect_failure_passes_through<CreditBarrier>(false);
  expect_failure_passes_through<FlipBarrier>(false);
  expect_failure_passes_through<CounterBarrier>(false);
}

}  // namespace
}  // namespace muster
