// reference_test.cpp for transfers.
#include <gtest/gtest.h>

#include "short_forms.hpp"

namespace muster::fuzz {
namespace {

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

}  // namespace
}  // namespace muster::fuzz
