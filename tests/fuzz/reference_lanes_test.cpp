// reference_test.cpp for barriers, credits, and the threads of a lane.
#include <gtest/gtest.h>

#include "generator.hpp"
#include "short_forms.hpp"

namespace muster::fuzz {
namespace {

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
