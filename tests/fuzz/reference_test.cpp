// The reference interpreter on programs whose verdicts follow from the contract in fabric.hpp. Each
// test argues its verdict; "contract N" is item N there.
#include <gtest/gtest.h>

#include "short_forms.hpp"

namespace muster::fuzz {
namespace {

// ---- message passing

// Contract 1 and 3: a release notify carries the own stores, an acquire wait sees them.
TEST(Reference, ReleaseAndAcquireCarryStores) {
  for (const Profile profile : all_profiles) {
    const Program program = ranks(
        profile, {{store(0, 7), set(0, 1, 1)}, {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 0)}});
    EXPECT_EQ(wrong(program), none);
    EXPECT_EQ(logs(program), (std::set<std::vector<std::uint64_t>>{{7}}));
  }
}

// Contract 3: a relaxed wait sees nothing of what was carried; and a relaxed notify carries
// nothing.
TEST(Reference, EitherEndRelaxedIsARace) {
  for (const Profile profile : weak_profiles) {
    EXPECT_EQ(
        wrong(ranks(profile, {{store(0, 7), set(0, 1, 1)},
                              {wait(0, 1, Order::relaxed), at_peer(Kind::remote_load, 0, 0, 0)}})),
        race);
    EXPECT_EQ(wrong(ranks(profile, {{store(0, 7), set(0, 1, 1, Order::relaxed)},
                                    {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 0)}})),
              race);
  }
  // sc: everything acq_rel.
  EXPECT_EQ(wrong(ranks(Profile::sc,
                        {{store(0, 7), set(0, 1, 1, Order::relaxed)},
                         {wait(0, 1, Order::relaxed), at_peer(Kind::remote_load, 0, 0, 0)}})),
            none);
}

// A notify before the data speaks for nothing that follows it.
TEST(Reference, NotifyBeforeTheDataIsARace) {
  for (const Profile profile : all_profiles) {
    EXPECT_EQ(wrong(ranks(profile, {{set(0, 1, 1), at_peer(Kind::remote_store, 1, 0, 0, 7)},
                                    {wait(0, 1), load(0)}})),
              race);
  }
}

// Contract 6: both may miss the other's notify (store buffering), unless the fabric is sc.
TEST(Reference, StoreBufferingIsAllowed) {
  const auto program = [](Profile profile) {
    return ranks(profile, {{set(0, 1, 1), read(0, Order::acquire)},
                           {set(0, 0, 1), read(0, Order::acquire)}});
  };
  const std::set<std::vector<std::uint64_t>> weak{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (const Profile profile : weak_profiles) EXPECT_EQ(logs(program(profile)), weak);
  EXPECT_EQ(logs(program(Profile::sc)),
            (std::set<std::vector<std::uint64_t>>{{0, 1}, {1, 0}, {1, 1}}));
}

// Contract 5: load buffering is excluded, by assumption.
TEST(Reference, LoadBufferingIsExcluded) {
  const Program program = ranks(Profile::rdma, {{read(0), set(0, 1, 1, Order::relaxed)},
                                                {read(0), set(0, 0, 1, Order::relaxed)}});
  const auto seen = logs(program);
  EXPECT_FALSE(seen.contains({1, 1}));
  EXPECT_TRUE(seen.contains({0, 0}) && seen.contains({0, 1}) && seen.contains({1, 0}));
}

// Coherence: what was read must be seen again; a second read may see more.
TEST(Reference, ReadsOfOneCellGrow) {
  const Program program =
      ranks(Profile::rdma,
            {{add(0, 1, 1, Order::relaxed), add(0, 1, 2, Order::relaxed)}, {read(0), read(0)}});
  EXPECT_EQ(logs(program),
            (std::set<std::vector<std::uint64_t>>{{0, 0}, {0, 1}, {0, 3}, {1, 1}, {1, 3}, {3, 3}}));
}

// Contract 4 speaks of the lane: siblings that have met are in program order, also when relaxed.
TEST(Reference, DepositsOfOneLaneAreInOrder) {
  for (const Profile profile : weak_profiles) {
    for (const bool meets : {true, false}) {
      Program program = ranks(profile, {{}, {}});
      program.threads = 2;
      program.code = {{set(0, 1, 1, Order::relaxed)}, {set(0, 1, 2, Order::relaxed)}, {}, {}};
      if (meets) program.code[0].push_back(converge);
      if (meets) program.code[1].insert(program.code[1].begin(), converge);
      EXPECT_EQ(wrong(program), meets ? none : Kinds{Wrong::clobber});
    }
  }
}

// One cell has one order: two readers cannot see the adds of two ranks in different orders.
TEST(Reference, ReadersOfOneCellFormAChain) {
  Program program = ranks(Profile::rdma, {{add(0, 2, 1)}, {add(0, 2, 2)}, {read(0)}});
  program.threads = 2;
  program.code = {{add(0, 2, 1)}, {}, {add(0, 2, 2)}, {}, {read(0)}, {read(0)}};
  const auto seen = logs(program);
  EXPECT_FALSE(seen.contains({1, 2}) || seen.contains({2, 1}));
  EXPECT_TRUE(seen.contains({1, 3}) && seen.contains({3, 2}) && seen.contains({0, 3}));
}

// Contract 1: what was acquired is passed on by a release. Through a relaxed rank it is lost.
TEST(Reference, ReleaseIsTransitive) {
  for (const Profile profile : weak_profiles) {
    for (const Order middle : {Order::release, Order::relaxed}) {
      const Program program = ranks(profile, {{store(0, 7), set(0, 1, 1)},
                                              {wait(0, 1), set(0, 2, 1, middle)},
                                              {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 0)}});
      EXPECT_EQ(wrong(program), middle == Order::release ? none : race);
    }
  }
}

// A relaxed chain carries no data, but a reader's end is carried, if it has converged (contract 5):
// the writer may overwrite what was read before the chain began. A release needs no converge.
TEST(Reference, RelaxedChainOrdersReadsBeforeLaterWrites) {
  const std::vector<Op> writer{wait(0, 1, Order::relaxed), at_peer(Kind::remote_store, 0, 0, 0, 7)};
  for (const Profile profile : weak_profiles) {
    EXPECT_EQ(wrong(ranks(profile, {{load(0), converge, set(0, 1, 1, Order::relaxed)}, writer})),
              none);
    EXPECT_EQ(wrong(ranks(profile, {{load(0), set(0, 1, 1, Order::relaxed)}, writer})), race);
    EXPECT_EQ(wrong(ranks(profile, {{load(0), set(0, 1, 1, Order::release)}, writer})), none);
    EXPECT_EQ(wrong(ranks(profile, {{load(0), flush, set(0, 1, 1, Order::relaxed)}, writer})),
              none);
    EXPECT_EQ(wrong(ranks(profile,
                          {{store(0, 1), set(0, 1, 1, Order::relaxed)},
                           {wait(0, 1, Order::relaxed), at_peer(Kind::remote_store, 0, 0, 0, 7)}})),
              race);
  }
}

// Contract 5: a wait is done before a later relaxed notify, what was loaded before it is not; and a
// read, or a test that says pending, is a load.
TEST(Reference, WhatIsDoneBeforeARelaxedNotify) {
  const auto program = [](Profile profile, std::vector<Op> middle) {
    middle.push_back(set(0, 2, 1, Order::relaxed));
    return ranks(profile, {{load(0), set(0, 1, 1)},
                           std::move(middle),
                           {wait(0, 1, Order::relaxed), at_peer(Kind::remote_store, 0, 0, 0, 7)}});
  };
  for (const Profile profile : weak_profiles) {
    EXPECT_EQ(wrong(program(profile, {wait(0, 1, Order::relaxed)})), none);
    const Op pending = test(0, 2, Order::acquire);
    EXPECT_EQ(wrong(program(profile, {wait(0, 1, Order::relaxed), load(1)})), none);
    for (const Op& look : {read(0), pending}) EXPECT_EQ(wrong(program(profile, {look})), race);
    EXPECT_EQ(wrong(ranks(profile, {{load(0), wait(0, 1), set(0, 1, 1, Order::relaxed)},
                                    {set(0, 0, 1), wait(0, 1, Order::relaxed),
                                     at_peer(Kind::remote_store, 0, 0, 0, 7)}})),
              race);
  }
}

// ---- the content of a cell

// Contract 3: every deposit contained in the value; a set that overwrites a release is not one.
TEST(Reference, RelaxedSetHidesAnEarlierRelease) {
  for (const Profile profile : weak_profiles) {
    EXPECT_EQ(wrong(ranks(profile, {{store(0, 7), set(0, 1, 1), set(0, 1, 2, Order::relaxed)},
                                    {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 0)}})),
              race);
  }
}

// A sum contains them all: each release in it is acquired, whoever came last.
TEST(Reference, SumCarriesEveryDeposit) {
  for (const Profile profile : weak_profiles) {
    const Program program = ranks(profile, {{at_peer(Kind::remote_store, 2, 0, 0, 5), add(0, 2, 1)},
                                            {at_peer(Kind::remote_store, 2, 1, 0, 6), add(0, 2, 1)},
                                            {wait(0, 2), load(0), load(1)}});
    EXPECT_EQ(wrong(program), none);
    EXPECT_EQ(logs(program), (std::set<std::vector<std::uint64_t>>{{5, 6}}));
  }
}

// Reaching 1 says only that one of the two has come.
TEST(Reference, ThresholdTooLowIsARace) {
  EXPECT_EQ(wrong(ranks(Profile::direct, {{at_peer(Kind::remote_store, 2, 0, 0, 5), add(0, 2, 1)},
                                          {at_peer(Kind::remote_store, 2, 1, 0, 6), add(0, 2, 1)},
                                          {wait(0, 1), load(0), load(1)}})),
            race);
}

// Contract 7.
TEST(Reference, UnorderedSetAndAddClobber) {
  for (const Profile profile : all_profiles) {
    EXPECT_TRUE(
        wrong(ranks(profile, {{set(0, 2, 1)}, {add(0, 2, 1)}, {}})).contains(Wrong::clobber));
    EXPECT_TRUE(
        wrong(ranks(profile, {{set(0, 2, 1)}, {set(0, 2, 1)}, {}})).contains(Wrong::clobber));
    EXPECT_EQ(wrong(ranks(profile, {{add(0, 2, 1)}, {add(0, 2, 1)}, {}})), none);
  }
}

// Ordered by an acquired release of the first writer, on the way over a third cell; a relaxed way
// does not order the deposits.
TEST(Reference, OrderedSetsDoNotClobber) {
  const auto program = [](Profile profile, Order order) {
    return ranks(profile,
                 {{set(0, 2, 1), flush, set(0, 1, 1, order)}, {wait(0, 1), set(0, 2, 2)}, {}});
  };
  for (const Profile profile : weak_profiles) {
    EXPECT_EQ(wrong(program(profile, Order::release)), none);
    EXPECT_EQ(wrong(program(profile, Order::relaxed)), Kinds{Wrong::clobber});
  }
}

// rdma 2 and 3: another rank's cell is reached on another channel, which the release does not
// carry.
TEST(Reference, DepositsToAThirdRankNeedAFlushToBeOrdered) {
  const auto program = [](Profile profile) {
    return ranks(profile, {{set(0, 2, 1), set(0, 1, 1)}, {wait(0, 1), set(0, 2, 2)}, {}});
  };
  EXPECT_EQ(wrong(program(Profile::rdma)), Kinds{Wrong::clobber});
  EXPECT_EQ(wrong(program(Profile::direct)), none);
}

// eq on a cell that grows: the waiter may look too late.
TEST(Reference, EqualOnAGrowingCellMayBlockForEver) {
  for (const Profile profile : all_profiles) {
    EXPECT_EQ(wrong(ranks(profile, {{add(0, 1, 1), add(0, 1, 1)},
                                    {wait(0, 1, Order::acquire, Compare::eq)}})),
              Kinds{Wrong::deadlock});
  }
}

// ... and ge is wrap-safe: -1 is below 1.
TEST(Reference, ComparesAreWrapSafe) {
  EXPECT_EQ(wrong(ranks(Profile::direct, {{set(0, 1, ~0U)}, {wait(0, 1)}})),
            Kinds{Wrong::deadlock});
}

TEST(Reference, WaitBeforeTheOwnNotifyOnEveryRank) {
  EXPECT_EQ(wrong(ranks(Profile::sc, {{wait(0, 1), set(0, 1, 1)}, {wait(0, 1), set(0, 0, 1)}})),
            Kinds{Wrong::deadlock});
}

// A test that failed has acquired nothing; one that succeeded has.
TEST(Reference, TestAcquiresOnlyWhenItHolds) {
  const auto program = [](When when) {
    Op after = at_peer(Kind::remote_load, 0, 0, 0);
    after.when = when;
    return ranks(Profile::direct, {{store(0, 7), set(0, 1, 1)}, {test(0, 1), after}});
  };
  EXPECT_EQ(wrong(program(When::last_nonzero)), none);
  EXPECT_EQ(wrong(program(When::last_zero)), race);
  EXPECT_EQ(logs(program(When::last_nonzero)), (std::set<std::vector<std::uint64_t>>{{0}, {1, 7}}));
}

}  // namespace
}  // namespace muster::fuzz
