// Programs that hold one rule of the checker each: certificate, search and reference must agree on
// them, and do not where the rule is broken (tests/mutants). What random programs rarely meet is
// here.
#include <gtest/gtest.h>

#include "compare.hpp"

namespace muster::fuzz {
namespace {

Op notify(NotifyOp op, std::uint32_t cell, std::uint32_t peer, std::uint32_t value,
          Order order = Order::release) {
  return {
      .kind = Kind::notify, .cell = cell, .peer = peer, .value = value, .op = op, .order = order};
}
Op add(std::uint32_t cell, std::uint32_t peer, std::uint32_t value) {
  return notify(NotifyOp::add, cell, peer, value);
}
Op wait(std::uint32_t cell, Compare compare, std::uint32_t value, Order order = Order::acquire) {
  return {.kind = Kind::wait, .cell = cell, .value = value, .compare = compare, .order = order};
}
Op send(std::uint32_t peer, std::uint32_t to) {
  return {.kind = Kind::remote_store, .peer = peer, .value = 7, .to = to};
}
Op load(std::uint32_t from) {
  return {.kind = Kind::load, .from = from};
}

Program ranks(Profile profile, std::vector<std::vector<Op>> code) {
  Program program;
  program.profile = profile;
  program.ranks = static_cast<std::uint32_t>(code.size());
  program.code = std::move(code);
  return program;
}

void expect_agreement(const Program& program, const std::set<Wrong>& wrong) {
  EXPECT_EQ(interpret(program).wrong, wrong) << to_string(program);
  const Comparison result = compare(program);
  EXPECT_TRUE(result.compared);
  EXPECT_FALSE(result.bounded);
  EXPECT_EQ(result.difference.value_or(""), "") << to_string(program);
}

// The take-back is a transfer and may land before the second wait, which then blocks for ever; in
// the first execution it is late.
TEST(Rules, ANegativeAddInFlight) {
  const Op take_back{
      .kind = Kind::put_signal, .peer = 1, .value = ~0U, .op = NotifyOp::add, .to = 1, .from = 0};
  expect_agreement(ranks(Profile::rdma, {{add(0, 1, 1)},
                                         {wait(0, Compare::ge, 1), take_back,
                                          wait(0, Compare::ge, 1, Order::relaxed)}}),
                   {Wrong::deadlock});
}

// The first execution shows the test more than it had to see, and its second add comes after that.
// Where it sees less, both its adds and one other let the wait pass without what was stored.
TEST(Rules, WhatALookSawIsNotLearntInEveryExecution) {
  const Op test{
      .kind = Kind::test, .cell = 0, .value = 1, .compare = Compare::ge, .order = Order::relaxed};
  Program program = ranks(Profile::sc, {{add(0, 1, 2)},
                                        {send(1, 0), add(0, 1, 2)},
                                        {wait(0, Compare::ge, 4), load(0)},
                                        {add(0, 1, 1), test, add(0, 1, 1)}});
  program.ranks = program.lanes = 2;
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    program.profile = profile;
    expect_agreement(program, {Wrong::race});
  }
}

// The same look three times may see what comes between any two of them.
TEST(Rules, EqualLooksAreEachTried) {
  const Op look{.kind = Kind::read, .cell = 0, .order = Order::acquire};
  const Op fetch{.kind = Kind::fetch_add, .cell = 0, .peer = 0, .value = 0};
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    for (const Op& same : {look, fetch}) {
      expect_agreement(ranks(profile, {{same, same, same}, {add(0, 0, 3)}}), {});
      expect_agreement(ranks(profile, {{same, same, same, same}, {add(0, 0, 3), add(0, 0, 4)}}),
                       {});
    }
  }
}

// Either add alone satisfies the wait, and carries its own data alone. Which the first execution
// takes is the engine's business: hence both.
TEST(Rules, TwoSetsThatSatisfy) {
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    for (const std::uint32_t looked_at : {0U, 1U}) {
      expect_agreement(ranks(profile, {{send(2, 0), add(0, 2, 1)},
                                       {send(2, 1), add(0, 2, 1)},
                                       {wait(0, Compare::ne, 0), load(looked_at)}}),
                       {Wrong::race});
    }
  }
}

// Adds need not be in order on a cell that was once set: the wait for 3 is satisfied by the middle
// add alone, whose data is read, and as well by the two others together.
TEST(Rules, UnorderedAddsAfterASet) {
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    const Op go = wait(1, Compare::ge, 1);
    expect_agreement(ranks(profile, {{go, add(0, 3, 1)},
                                     {go, send(3, 0), add(0, 3, 2)},
                                     {go, add(0, 3, 1)},
                                     {notify(NotifyOp::set, 0, 3, 1), add(1, 0, 1), add(1, 1, 1),
                                      add(1, 2, 1), wait(0, Compare::ge, 3), load(0)}}),
                     {Wrong::race});
  }
}

// One cell has one order for all its readers.
TEST(Rules, ReadersFormAChain) {
  const Op read{.kind = Kind::read, .order = Order::relaxed};
  Program program = ranks(Profile::direct, {{}, {}, {}});
  program.threads = 2;
  program.code = {{add(0, 2, 1)}, {}, {add(0, 2, 2)}, {}, {read}, {read}};
  expect_agreement(program, {});
}

// A test that does not hold has read, and acquired nothing.
TEST(Rules, APendingTestAcquiresNothing) {
  const Op test{.kind = Kind::test, .value = 2, .compare = Compare::ge, .order = Order::acquire};
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    expect_agreement(ranks(profile, {{send(1, 0), notify(NotifyOp::set, 0, 1, 1)},
                                     {wait(0, Compare::ge, 1, Order::relaxed), test, load(0)}}),
                     {Wrong::race});
  }
}

// complete() ends what was asked for before it, and the reading of a put's source; nothing else.
TEST(Rules, CompleteEndsTheTransfersBeforeIt) {
  const auto move = [](Kind kind, std::uint32_t peer, std::uint32_t to, std::uint32_t from) {
    return Op{.kind = kind, .peer = peer, .to = to, .from = from};
  };
  const auto with = [](Kind kind, std::uint32_t peer) { return Op{.kind = kind, .peer = peer}; };
  const Op complete = with(Kind::complete, 1);
  const Op store{.kind = Kind::store, .value = 9, .to = 1};
  const std::set<Wrong> race{Wrong::race};
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    const Op get = move(Kind::get_async, 1, 0, 1), next = move(Kind::get_async, 1, 2, 3);
    expect_agreement(ranks(profile, {{get, complete, load(0)}, {}}), {});
    expect_agreement(ranks(profile, {{get, with(Kind::complete, 0), load(0)}, {}}), race);
    expect_agreement(ranks(profile, {{get, next, complete, load(0), load(2)}, {}}), {});
    expect_agreement(ranks(profile, {{get, complete, next, load(0), load(2)}, {}}), race);
    const Op put = move(Kind::put_async, 1, 0, 1);
    expect_agreement(ranks(profile, {{put, store}, {}}), race);
    expect_agreement(ranks(profile, {{put, complete, store}, {}}), {});
    expect_agreement(ranks(profile, {{put, with(Kind::flush_peer, 1), store}, {}}), {});
    expect_agreement(ranks(profile, {{put, with(Kind::flush_peer, 0), store}, {}}), race);
    // It need not have arrived: on direct a release to anybody carries it.
    const auto told = [&](Op after) {
      return ranks(profile, {{put, after, notify(NotifyOp::set, 0, 2, 1)},
                             {},
                             {wait(0, Compare::ge, 1), move(Kind::remote_load, 1, 0, 0)}});
    };
    expect_agreement(told(complete), profile == Profile::rdma ? race : std::set<Wrong>{});
    expect_agreement(told(with(Kind::flush_peer, 1)), {});
  }
}

// What is taken is the last hand, and that alone carries: an earlier one released, but its mark is
// gone. (A compare-and-swap would carry on; a store, which a fabric may use, does not.)
TEST(Rules, AHandCarriesItsOwnAlone) {
  const auto hand = [](Order order) { return Op{.kind = Kind::hand, .peer = 1, .order = order}; };
  const auto take = [](Order order) { return Op{.kind = Kind::take, .order = order}; };
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    expect_agreement(ranks(profile, {{send(1, 0), hand(Order::release), hand(Order::relaxed)},
                                     {take(Order::relaxed), take(Order::acquire), load(0)}}),
                     {Wrong::race});
    expect_agreement(ranks(profile, {{send(1, 0), hand(Order::relaxed), hand(Order::release)},
                                     {take(Order::relaxed), take(Order::acquire), load(0)}}),
                     {});
  }
}

// ---- fetched operations

Op fetching(Kind kind, std::uint32_t cell, std::uint32_t peer, std::uint32_t value,
            Order order = Order::acq_rel) {
  return {.kind = kind, .cell = cell, .peer = peer, .value = value, .order = order};
}

// What is found depends on who comes first, also where it is never the value that is tested for.
TEST(Rules, FetchedOperationsAreNotCertified) {
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    const Op ticket = fetching(Kind::fetch_add, 0, 0, 1);
    expect_agreement(ranks(profile, {{add(0, 0, 1), add(1, 1, 1), add(1, 2, 1)},
                                     {wait(1, Compare::ge, 1), ticket},
                                     {wait(1, Compare::ge, 1), ticket}}),
                     {});
  }
}

// Rank 1 has read the add: the exchange does not come before it.
TEST(Rules, AFetchedOperationFollowsWhatWasRead) {
  const Op read{.kind = Kind::read, .order = Order::relaxed};
  expect_agreement(
      ranks(Profile::direct,
            {{add(0, 1, 1)}, {read, read}, {fetching(Kind::exchange, 0, 1, 5, Order::relaxed)}}),
      {});
}

// An exchange may find the cell without an add that was issued before; then the add comes on top.
TEST(Rules, AnAddBehindAnExchange) {
  const Op read{.kind = Kind::read, .order = Order::relaxed};
  expect_agreement(ranks(Profile::rdma, {{add(0, 2, 1)},
                                         {fetching(Kind::exchange, 0, 2, 5, Order::relaxed)},
                                         {read, read, read}}),
                   {});
}

// The last one acquires from the first through the relaxed one between them.
TEST(Rules, AnExchangeCarriesOnWhatItReplaces) {
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    expect_agreement(
        ranks(profile,
              {{send(2, 0), fetching(Kind::exchange, 0, 2, 1, Order::release), add(1, 1, 1)},
               {wait(1, Compare::ge, 1), fetching(Kind::exchange, 0, 2, 2, Order::relaxed)},
               {wait(0, Compare::ge, 2), load(0)}}),
        {});
  }
}

// A set beside a fetched operation; the one that changes nothing writes, too.
TEST(Rules, ASetBesideAFetchedOperation) {
  for (const std::uint32_t value : {0U, 1U}) {
    expect_agreement(ranks(Profile::direct, {{fetching(Kind::fetch_add, 0, 1, value)},
                                             {notify(NotifyOp::set, 0, 1, 3)}}),
                     {Wrong::clobber});
  }
}

}  // namespace
}  // namespace muster::fuzz
