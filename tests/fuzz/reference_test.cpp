// The reference interpreter on programs whose verdicts follow from the contract in fabric.hpp. Each
// test argues its verdict; "contract N" is item N there.
#include "reference.hpp"

#include <gtest/gtest.h>

#include "generator.hpp"

namespace muster::fuzz {
namespace {

using Kinds = std::set<Wrong>;

// ---- short forms

Op set(std::uint32_t cell, std::uint32_t peer, std::uint32_t value, Order order = Order::release) {
  return {.kind = Kind::notify,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = NotifyOp::set,
          .order = order};
}
Op add(std::uint32_t cell, std::uint32_t peer, std::uint32_t value, Order order = Order::release) {
  return {.kind = Kind::notify,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = NotifyOp::add,
          .order = order};
}
Op wait(std::uint32_t cell, std::uint32_t value, Order order = Order::acquire,
        Compare compare = Compare::ge) {
  return {.kind = Kind::wait, .cell = cell, .value = value, .compare = compare, .order = order};
}
Op read(std::uint32_t cell, Order order = Order::relaxed) {
  return {.kind = Kind::read, .cell = cell, .order = order};
}
Op test(std::uint32_t cell, std::uint32_t value, Order order = Order::acquire) {
  return {.kind = Kind::test, .cell = cell, .value = value, .compare = Compare::ge, .order = order};
}
Op store(std::uint32_t to, std::uint32_t value) {
  return {.kind = Kind::store, .value = value, .to = to};
}
Op load(std::uint32_t from) {
  return {.kind = Kind::load, .from = from};
}
Op at_peer(Kind kind, std::uint32_t peer, std::uint32_t to, std::uint32_t from,
           std::uint32_t value = 0) {
  return {.kind = kind, .peer = peer, .value = value, .to = to, .from = from};
}
Op put_signal(std::uint32_t peer, std::uint32_t to, std::uint32_t from, std::uint32_t cell,
              std::uint32_t value, NotifyOp op) {
  return {.kind = Kind::put_signal,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = op,
          .to = to,
          .from = from};
}
const Op flush{.kind = Kind::flush};
const Op converge{.kind = Kind::converge};

Program ranks(Profile profile, std::vector<std::vector<Op>> code) {
  Program program;
  program.profile = profile;
  program.ranks = static_cast<std::uint32_t>(code.size());
  program.code = std::move(code);
  return program;
}

// One rank, one lane of several threads.
Program threads(Profile profile, std::vector<std::vector<Op>> code) {
  Program program = ranks(profile, std::move(code));
  program.threads = program.ranks;
  program.ranks = 1;
  return program;
}

Kinds wrong(const Program& program) {
  const Verdict verdict = interpret(program);
  EXPECT_TRUE(verdict.complete);
  EXPECT_TRUE(!verdict.wrong.empty() || !verdict.outcomes.empty()) << "no execution at all";
  return verdict.wrong;
}

// What all strands logged in the executions without an error.
std::set<std::vector<std::uint64_t>> logs(const Program& program) {
  std::set<std::vector<std::uint64_t>> result;
  for (const Outcome& outcome : interpret(program).outcomes) {
    std::vector<std::uint64_t> values;
    std::size_t at = 0;
    for (std::size_t s = 0; s < program.code.size(); ++s) {
      const std::uint64_t length = outcome[at++];
      for (std::uint64_t i = 0; i < length; ++i) values.push_back(outcome[at++]);
      if ((s + 1) % (program.lanes * program.threads) == 0) at += program.elements;
    }
    result.insert(values);
  }
  return result;
}

const Kinds none{};
const Kinds race{Wrong::race};
constexpr Profile all_profiles[] = {Profile::rdma, Profile::direct, Profile::sc};
constexpr Profile weak_profiles[] = {Profile::rdma, Profile::direct};

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

// ---- transfers

// A transfer to the own rank is a local access: done on return, carried to anybody.
TEST(Reference, TransfersToTheOwnRank) {
  for (const Kind kind : {Kind::put, Kind::put_async, Kind::remote_store}) {
    const bool async = kind == Kind::put_async;
    for (const Profile profile : weak_profiles) {
      EXPECT_EQ(wrong(ranks(profile, {{at_peer(kind, 0, 1, 0), store(1, 3)}, {}})),
                async ? race : none);
      EXPECT_EQ(wrong(ranks(profile, {{at_peer(kind, 0, 1, 0), set(0, 1, 1)},
                                      {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 1)}})),
                async && profile == Profile::rdma ? race : none);
    }
  }
  for (const Profile profile : all_profiles) {
    EXPECT_EQ(wrong(ranks(profile, {{at_peer(Kind::remote_add, 0, 0, 0, 1)},
                                    {at_peer(Kind::remote_add, 0, 0, 0, 1)}})),
              none);
  }
}

// ... but for the deposit of a put_signal; its payload is no exception.
TEST(Reference, APutSignalToTheOwnRank) {
  const Op own = put_signal(0, 1, 0, 0, 1, NotifyOp::set);
  EXPECT_EQ(wrong(ranks(Profile::rdma, {{own, store(1, 3)}, {}})), none);
  EXPECT_EQ(wrong(ranks(Profile::rdma, {{own, set(0, 0, 2)}, {}})), Kinds{Wrong::clobber});
  EXPECT_EQ(wrong(ranks(Profile::rdma, {{own, flush, set(0, 0, 2)}, {}})), none);
}

// On direct the asynchronous forms are in flight, too; a release carries a put to anybody there.
TEST(Reference, AsynchronousTransfersOnDirect) {
  for (const Profile profile : {Profile::direct, Profile::sc}) {
    const Kinds in_flight = profile == Profile::sc ? none : race;
    const Op put = at_peer(Kind::put_async, 1, 1, 0), get = at_peer(Kind::get_async, 1, 0, 1);
    EXPECT_EQ(wrong(ranks(profile, {{put, store(0, 2)}, {}})), in_flight);
    EXPECT_EQ(wrong(ranks(profile, {{put, flush, store(0, 2)}, {}})), none);
    EXPECT_EQ(wrong(ranks(profile, {{get, load(0)}, {}})), in_flight);
    EXPECT_EQ(wrong(ranks(profile, {{get, set(0, 1, 1)}, {wait(0, 1), store(1, 9)}})), in_flight);
    EXPECT_EQ(wrong(ranks(profile, {{put, set(0, 1, 1)}, {wait(0, 1), load(1)}})), none);
    EXPECT_EQ(
        wrong(ranks(profile,
                    {{put, set(0, 2, 1)}, {wait(0, 1), load(1)}, {wait(0, 1), set(0, 1, 1)}})),
        none);
  }
}

// Contract 1: a put_signal is a put, so a later release to that rank carries its payload; not its
// deposit.
TEST(Reference, AReleaseCarriesThePayloadOfAPutSignal) {
  const auto program = [](Op then) {
    return ranks(Profile::rdma,
                 {{put_signal(1, 1, 0, 0, 1, NotifyOp::set), set(1, 1, 1)}, {wait(1, 1), then}});
  };
  EXPECT_EQ(wrong(program(load(1))), none);
  EXPECT_EQ(wrong(program(set(0, 1, 2))), Kinds{Wrong::clobber});
}

// Contract 1: transfers to p are carried by a release to p; to a third rank only on direct.
TEST(Reference, PutToAThirdRank) {
  const auto program = [](Profile profile, bool flushed) {
    std::vector<Op> first{store(0, 7), at_peer(Kind::put, 2, 1, 0)};
    if (flushed) first.push_back(flush);
    first.push_back(set(0, 1, 1));
    return ranks(profile, {first, {wait(0, 1), set(0, 2, 1)}, {wait(0, 1), load(1)}});
  };
  EXPECT_EQ(wrong(program(Profile::rdma, false)), race);
  EXPECT_EQ(wrong(program(Profile::rdma, true)), none);
  EXPECT_EQ(wrong(program(Profile::direct, false)), none);
}

TEST(Reference, PutToThePeerThatIsTold) {
  for (const Profile profile : all_profiles) {
    const Program program = ranks(
        profile, {{store(0, 7), at_peer(Kind::put, 1, 1, 0), set(0, 1, 1)}, {wait(0, 1), load(1)}});
    EXPECT_EQ(wrong(program), none);
    EXPECT_EQ(logs(program), (std::set<std::vector<std::uint64_t>>{{7}}));
  }
}

// Contract 8: two transfers of the same remote bytes are unordered on rdma without flush.
TEST(Reference, TwoPutsOfTheSameBytes) {
  const auto program = [](Profile profile, std::vector<Op> between) {
    std::vector<Op> code{at_peer(Kind::remote_store, 1, 0, 0, 5)};
    code.insert(code.end(), between.begin(), between.end());
    code.push_back(at_peer(Kind::remote_store, 1, 0, 0, 6));
    return ranks(profile, {code, {}});
  };
  EXPECT_EQ(wrong(program(Profile::rdma, {})), race);
  EXPECT_EQ(wrong(program(Profile::rdma, {flush})), none);
  EXPECT_EQ(wrong(program(Profile::direct, {})), none);
}

// The table of operations: the source of a put is reusable on return, that of put_async at flush,
// or when the target has acknowledged a release that came after it.
TEST(Reference, SourceOfAPutReused) {
  const auto program = [](Kind kind, bool flushed) {
    std::vector<Op> code{store(0, 1), at_peer(kind, 1, 1, 0)};
    if (flushed) code.push_back(flush);
    code.push_back(store(0, 2));
    return ranks(Profile::rdma, {code, {}});
  };
  EXPECT_EQ(wrong(program(Kind::put, false)), none);
  EXPECT_EQ(wrong(program(Kind::put_async, false)), race);
  EXPECT_EQ(wrong(program(Kind::put_async, true)), none);
  for (const Order order : {Order::release, Order::relaxed}) {
    EXPECT_EQ(wrong(ranks(Profile::rdma, {{store(0, 1), at_peer(Kind::put_async, 1, 1, 0),
                                           set(0, 1, 1, order), wait(0, 1), store(0, 2)},
                                          {wait(0, 1), set(0, 0, 1)}})),
              order == Order::release ? none : race);
  }
}

TEST(Reference, GetReadBeforeItIsDone) {
  const auto program = [](Kind kind, bool flushed) {
    std::vector<Op> code{at_peer(kind, 1, 0, 1)};
    if (flushed) code.push_back(flush);
    code.push_back(load(0));
    return ranks(Profile::rdma, {code, {}});
  };
  EXPECT_EQ(wrong(program(Kind::get, false)), none);
  EXPECT_EQ(wrong(program(Kind::get_async, false)), race);
  EXPECT_EQ(wrong(program(Kind::get_async, true)), none);
}

// Contract 1, last sentence: a release covers no unfinished get, so the target may not overwrite.
TEST(Reference, ReleaseDoesNotCoverAnUnfinishedGet) {
  const auto program = [](Kind kind) {
    return ranks(Profile::rdma,
                 {{at_peer(kind, 1, 0, 1), set(0, 1, 1)}, {wait(0, 1), store(1, 9)}});
  };
  EXPECT_EQ(wrong(program(Kind::get_async)), race);
  EXPECT_EQ(wrong(program(Kind::get)), none);
}

// Contract 2: the payload alone, on direct too.
TEST(Reference, PutSignalCarriesItsPayloadAlone) {
  for (const Profile profile : weak_profiles) {
    const auto program = [&](std::uint32_t looked_at) {
      return ranks(profile, {{store(0, 7), at_peer(Kind::put, 1, 1, 0),
                              put_signal(1, 2, 0, 0, 1, NotifyOp::set)},
                             {wait(0, 1), load(looked_at)}});
    };
    EXPECT_EQ(wrong(program(2)), none);
    EXPECT_EQ(wrong(program(1)), race);
  }
}

// ... but what its payload has overwritten, in order, is no race with the reader of the payload.
TEST(Reference, PutSignalOverAnEarlierPut) {
  for (const bool flushed : {true, false}) {
    std::vector<Op> code{store(0, 7), at_peer(Kind::put, 1, 1, 0)};
    if (flushed) code.push_back(flush);
    code.push_back(put_signal(1, 1, 0, 0, 1, NotifyOp::set));
    EXPECT_EQ(wrong(ranks(Profile::rdma, {code, {wait(0, 1), load(1)}})), flushed ? none : race);
  }
}

// Two put_signals add to one cell: when the sum is 2 both have come; each is its own writer, so a
// sum of 1 may be either.
TEST(Reference, PutSignalsOnOneCell) {
  const auto program = [](std::uint32_t threshold) {
    return ranks(Profile::rdma, {{store(0, 7), put_signal(1, 1, 0, 0, 1, NotifyOp::add),
                                  put_signal(1, 2, 0, 0, 1, NotifyOp::add)},
                                 {wait(0, threshold), load(1)}});
  };
  EXPECT_EQ(wrong(program(2)), none);
  EXPECT_EQ(wrong(program(1)), race);
}

// Contract 8: adds commute with each other, and race with everything else.
TEST(Reference, RemoteAddsCommute) {
  for (const Profile profile : all_profiles) {
    const Program program = ranks(profile, {{at_peer(Kind::remote_add, 2, 0, 0, 1), add(0, 2, 1)},
                                            {at_peer(Kind::remote_add, 2, 0, 0, 2), add(0, 2, 1)},
                                            {wait(0, 2), load(0)}});
    EXPECT_EQ(wrong(program), none);
    EXPECT_EQ(logs(program), (std::set<std::vector<std::uint64_t>>{{3}}));
    EXPECT_EQ(wrong(ranks(profile, {{at_peer(Kind::remote_add, 1, 0, 0, 1)}, {store(0, 3)}})),
              race);
  }
}

// ---- barriers

Program counter_barrier(Profile profile, bool flushed, bool with_data) {
  Program program = ranks(profile, {});
  program.ranks = 3;
  for (std::uint32_t r = 0; r < 3; ++r) {
    std::vector<Op> code;
    if (with_data) code.push_back(at_peer(Kind::remote_store, (r + 1) % 3, 0, 0, r + 1));
    for (std::uint32_t call = 1; call <= 2; ++call) {
      if (flushed) code.push_back(flush);
      code.push_back(add(0, (r + 1) % 3, 1));
      code.push_back(add(0, (r + 2) % 3, 1));
      code.push_back(wait(0, 2 * call));
      if (with_data && call == 1) code.push_back(load(0));
    }
    program.code.push_back(code);
  }
  return program;
}

// The measured example of CHECKER.md: a barrier on one counter per rank, N = 3, 2 calls, put before
// the barrier, is clean on direct and a race on rdma; the second deposit of a fast peer stands in
// for a slow one's first. A flush mends it.
TEST(Reference, CounterOverTwoCalls) {
  const ReferenceOptions options{.max_states = 2'000'000};
  const auto kinds = [&](const Program& program) {
    const Verdict verdict = interpret(program, options);
    EXPECT_TRUE(verdict.complete);
    return verdict.wrong;
  };
  EXPECT_EQ(kinds(counter_barrier(Profile::direct, false, true)), none);
  EXPECT_EQ(kinds(counter_barrier(Profile::rdma, false, true)), race);
  EXPECT_EQ(kinds(counter_barrier(Profile::rdma, true, true)), none);
}

// ---- credits

TEST(Reference, TakingBackExactlyWhatWasWaitedFor) {
  const auto program = [](std::uint32_t back) {
    Program p =
        ranks(Profile::rdma, {{add(0, 1, 1)}, {wait(0, 1), add(0, 1, back, Order::relaxed)}});
    p.zero_cells = 1;
    return p;
  };
  EXPECT_EQ(wrong(program(~0U)), none);
  EXPECT_EQ(wrong(program(~0U - 1)), Kinds{Wrong::credits});  // one too many: negative
  EXPECT_EQ(wrong(program(0)), Kinds{Wrong::credits});        // too few: left over
}

TEST(Reference, TakingBackForAnotherIsAnError) {
  for (const bool promised : {true, false}) {
    Program program = ranks(Profile::direct, {{add(0, 1, 1)}, {}});
    program.threads = 2;
    program.zero_cells = promised ? 1 : 0;
    program.code = {{add(0, 1, 1)}, {}, {wait(0, 1), converge}, {converge, add(0, 1, ~0U)}};
    EXPECT_EQ(wrong(program), promised ? Kinds{Wrong::credits} : none);
  }
}

// On a cell where others wait, or several take, it is an add: a count that goes down, two lanes
// that share what there is.
TEST(Reference, AddsOfNegativeNumbers) {
  for (const Profile profile : all_profiles) {
    const Op down = wait(0, 0, Order::acquire, Compare::le);
    EXPECT_EQ(wrong(ranks(profile, {{add(0, 0, 2), add(1, 1, 1), add(1, 2, 1), down},
                                    {wait(1, 1), add(0, 0, ~0U)},
                                    {wait(1, 1), add(0, 0, ~0U)}})),
              none);
    EXPECT_EQ(wrong(ranks(profile, {{add(0, 0, 1), add(0, 1, ~0U), down},
                                    {add(0, 1, 1), add(0, 0, ~0U), down}})),
              none);
    Program shared = ranks(profile, {{}, {}});
    shared.ranks = 1, shared.lanes = 2;
    const std::vector<Op> user{add(0, 0, ~0U), wait(0, ~1U), add(0, 0, 1)};
    shared.code = {user, user};
    EXPECT_EQ(wrong(shared), none);
  }
}

TEST(Reference, HandAndTake) {
  const Op hand{.kind = Kind::hand, .cell = 0, .peer = 1, .order = Order::release};
  const Op take{.kind = Kind::take, .cell = 0, .order = Order::acquire};
  Op relaxed = hand;
  relaxed.order = Order::relaxed;
  for (const Profile profile : weak_profiles) {
    const Op data = at_peer(Kind::remote_store, 1, 0, 0, 4);
    EXPECT_EQ(wrong(ranks(profile, {{data, hand, hand}, {take, load(0), take}})), none);
    EXPECT_EQ(wrong(ranks(profile, {{data, relaxed, hand}, {take, load(0), take}})), race);
    EXPECT_EQ(wrong(ranks(profile, {{hand, hand}, {}})), Kinds{Wrong::deadlock});
    EXPECT_EQ(wrong(ranks(profile, {{hand}, {take, take}})), Kinds{Wrong::deadlock});
  }
}

// ---- threads of a lane

// A converge orders what the threads wrote; without it the one that notifies speaks for itself.
TEST(Reference, ConvergeBeforeSpeakingForTheLane) {
  const auto program = [](bool meets) {
    Program p = ranks(Profile::direct, {{}, {}});
    p.threads = 2;
    p.code = {{set(0, 1, 1)},
              {store(0, 7)},
              {wait(0, 1), at_peer(Kind::remote_load, 0, 0, 0)},
              {at_peer(Kind::remote_load, 0, 0, 0)}};
    // Both threads of rank 1 call remote_load; thread 0 holds the element.
    if (meets) p.code[0].insert(p.code[0].begin(), converge), p.code[1].push_back(converge);
    return p;
  };
  EXPECT_EQ(wrong(program(true)), none);
  EXPECT_EQ(wrong(program(false)), race);
}

TEST(Reference, CountersAreDataOfTheLane) {
  const Op look{.kind = Kind::read_counter}, advance{.kind = Kind::write_counter, .value = 1};
  EXPECT_EQ(wrong(threads(Profile::direct, {{look, converge, advance}, {look, converge}})), none);
  EXPECT_EQ(wrong(threads(Profile::direct, {{look, advance, converge}, {look, converge}})), race);
}

// Contract 10: a relaxed notify speaks for the kernels before its own, and the next kernel has
// acquired what this one has read relaxed.
TEST(Reference, KernelBoundariesOrder) {
  const Op boundary{.kind = Kind::boundary};
  for (const Profile profile : weak_profiles) {
    for (const bool earlier : {true, false}) {
      for (const bool later : {true, false}) {
        std::vector<Op> writer{store(0, 7), at_peer(Kind::put, 1, 1, 0)};
        if (earlier) writer.push_back(boundary);
        writer.push_back(set(0, 1, 1, Order::relaxed));
        std::vector<Op> reader{wait(0, 1, Order::relaxed)};
        if (later) reader.push_back(boundary);
        reader.push_back(load(1));
        reader.push_back(at_peer(Kind::remote_load, 0, 0, 0));
        EXPECT_EQ(wrong(ranks(profile, {writer, reader})), earlier && later ? none : race);
      }
    }
  }
}

// ... and its end flushes, also what other lanes have sent to a third rank, or are fetching.
TEST(Reference, TheEndOfAKernelFlushes) {
  const Op boundary{.kind = Kind::boundary};
  for (const bool ended : {true, false}) {
    Program program = ranks(Profile::rdma, {{}, {}, {}});
    program.lanes = 2;
    program.code = {{at_peer(Kind::put_async, 2, 1, 0), at_peer(Kind::get_async, 1, 2, 3)},
                    {},
                    {},
                    {},
                    {wait(0, 1), load(1)},
                    {}};
    if (ended) program.code[0].push_back(boundary), program.code[1].push_back(boundary);
    program.code[1].push_back(set(0, 2, 1, Order::relaxed));
    program.code[0].push_back(store(0, 9));
    if (ended) program.code[0].push_back(load(2));
    EXPECT_EQ(wrong(program), ended ? none : race);
  }
}

// put, get and flush converge: what a sibling stored is sent, what it loaded is done.
TEST(Reference, TransfersConverge) {
  for (const Op& op : {at_peer(Kind::put, 1, 1, 0), at_peer(Kind::get, 1, 1, 2), flush}) {
    Program program = ranks(Profile::direct, {{}, {}});
    program.threads = 2;
    const bool get = op.kind == Kind::get;
    program.code = {{op, set(0, 1, 1, Order::relaxed)},
                    {get ? load(3) : load(0), op},
                    {wait(0, 1, Order::relaxed), at_peer(Kind::remote_store, 0, get ? 3 : 0, 0, 7)},
                    {at_peer(Kind::remote_store, 0, get ? 3 : 0, 0, 7)}};
    // Both threads of rank 1 call remote_store; thread 0 holds the element.
    EXPECT_EQ(wrong(program), none) << to_string(program);
    program.code[0].pop_back(), program.code[0].insert(program.code[0].begin(), set(0, 1, 1));
    EXPECT_EQ(wrong(program), race) << to_string(program);
  }
}

TEST(Reference, ReturningPastAConvergeIsDivergence) {
  EXPECT_EQ(wrong(threads(Profile::sc, {{converge}, {}})), Kinds{Wrong::divergence});
}

// ---- the interpreter itself

// A state is what has run and what was read: visiting each once changes no verdict.
TEST(Reference, VisitingEachStateOnceLosesNothing) {
  std::uint32_t compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const Profile profile : all_profiles) {
      const Program program = draw(seed, profile);
      const Verdict once = interpret(program, {.max_states = 60});
      if (!once.complete) continue;
      const Verdict again = interpret(program, {.max_states = 4000, .memoise = false});
      if (!again.complete) continue;
      ++compared;
      EXPECT_EQ(once.wrong, again.wrong) << to_string(program);
      EXPECT_EQ(once.outcomes, again.outcomes) << to_string(program);
    }
  }
  EXPECT_GT(compared, 80U);
}

}  // namespace
}  // namespace muster::fuzz
