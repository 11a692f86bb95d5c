// What the axioms allow and forbid, on the smallest programs that tell.
#include <gtest/gtest.h>

#include <string>

#include "litmus/text.hpp"

namespace muster::litmus {
namespace {

std::string store_buffering(const std::string& between) {
  return "st.weak x, 1 | st.weak y, 1 ;\n" + between + " | " + between +
         " ;\nld.weak r0, y | ld.weak r0, x ;\n";
}
const std::string both_zero = "exists (P0:r0 == 0 /\\ P1:r0 == 0)";

std::string message_passing(const std::string& store, const std::string& load) {
  return "st.weak x, 1 | " + load + " r0, y ;\n" + store + " y, 1 | ld.weak r1, x ;\n";
}
const std::string stale = "exists (P1:r0 == 1 /\\ P1:r1 == 0)";

TEST(LitmusVerdict, StoreBufferingNeedsScFences) {
  EXPECT_TRUE(holds(two_threads(store_buffering("fence.acq_rel.gpu"), both_zero)));
  EXPECT_FALSE(holds(two_threads(store_buffering("fence.sc.gpu"), both_zero)));
  EXPECT_FALSE(holds(two_threads(store_buffering("membar.gl"), both_zero)));
}

// No loop, and no verdict.
TEST(LitmusVerdict, WhatIsTooLongIsBounded) {
  const auto verdict_of = [](std::size_t stores) {
    std::string text = "PTX made\n{ x=0; }\nP0@cta 0,gpu 0 ;\n";
    for (std::size_t i = 0; i < stores; ++i) text += "st.weak x, 1 ;\n";
    return enumerate(*parse(text + "~exists (x == 1)\n", "made"));
  };
  EXPECT_FALSE(verdict_of(20).bounded());
  EXPECT_FALSE(verdict_of(20).holds);
  EXPECT_TRUE(verdict_of(130).bounded());
}

TEST(LitmusVerdict, ScFencesOrderWithinTheirScopeAlone) {
  EXPECT_FALSE(holds(two_threads(store_buffering("fence.sc.cta"), both_zero, 0)));
  EXPECT_TRUE(holds(two_threads(store_buffering("fence.sc.cta"), both_zero, 1)));
  EXPECT_TRUE(holds(two_threads(store_buffering("fence.sc.gpu"), both_zero, 0, 1)));
  EXPECT_FALSE(holds(two_threads(store_buffering("fence.sc.sys"), both_zero, 0, 1)));
}

TEST(LitmusVerdict, MessagesPassByReleaseAndAcquire) {
  EXPECT_FALSE(holds(two_threads(message_passing("st.release.gpu", "ld.acquire.gpu"), stale)));
  EXPECT_TRUE(holds(two_threads(message_passing("st.relaxed.gpu", "ld.acquire.gpu"), stale)));
  EXPECT_TRUE(holds(two_threads(message_passing("st.release.gpu", "ld.relaxed.gpu"), stale)));
  EXPECT_TRUE(holds(two_threads(message_passing("st.weak", "ld.weak"), stale)));
}

TEST(LitmusVerdict, MessagesPassWhereEachIsInTheOthersScope) {
  const std::string cta = message_passing("st.release.cta", "ld.acquire.sys");
  EXPECT_FALSE(holds(two_threads(cta, stale, 0)));
  EXPECT_TRUE(holds(two_threads(cta, stale, 1)));
  const std::string gpu = message_passing("st.release.gpu", "ld.acquire.gpu");
  EXPECT_TRUE(holds(two_threads(gpu, stale, 0, 1)));
  const std::string sys = message_passing("st.release.sys", "ld.acquire.sys");
  EXPECT_FALSE(holds(two_threads(sys, stale, 0, 1)));
}

TEST(LitmusVerdict, MessagesPassByFencesAroundStrongAccesses) {
  const auto fenced = [](const std::string& kind) {
    return "st.weak x, 1 | ld." + kind + " r0, y ;\nfence.acq_rel.gpu | fence.acq_rel.gpu ;\nst." +
           kind + " y, 1 | ld.weak r1, x ;\n";
  };
  EXPECT_FALSE(holds(two_threads(fenced("relaxed.gpu"), stale)));
  EXPECT_FALSE(holds(two_threads(fenced("volatile"), stale)));
  EXPECT_TRUE(holds(two_threads(fenced("weak"), stale)));
}

TEST(LitmusVerdict, IndependentReadersAgreeWithScFencesAlone) {
  const auto readers = [](const std::string& load, const std::string& between) {
    return "PTX iriw\n{ x=0; y=0; }\n"
           "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;\n"
           "st.relaxed.gpu x, 1 | " +
           load + " r0, x | st.relaxed.gpu y, 1 | " + load +
           " r0, y ;\n"
           " | " +
           between + " | | " + between +
           " ;\n"
           " | " +
           load + " r1, y | | " + load +
           " r1, x ;\n"
           "exists (P1:r0 == 1 /\\ P1:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0)\n";
  };
  EXPECT_TRUE(holds(readers("ld.acquire.gpu", "")));
  EXPECT_TRUE(holds(readers("ld.relaxed.gpu", "fence.acq_rel.gpu")));
  EXPECT_FALSE(holds(readers("ld.relaxed.gpu", "fence.sc.gpu")));
}

TEST(LitmusVerdict, LoadBufferingIsAllowedUnlessValuesDependOnThemselves) {
  const auto loads = [](const std::string& first, const std::string& second) {
    return "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\nst.relaxed.gpu y, " + first +
           " | st.relaxed.gpu x, " + second + " ;\n";
  };
  const std::string both = "exists (P0:r0 == 1 /\\ P1:r0 == 1)";
  EXPECT_TRUE(holds(two_threads(loads("1", "1"), both)));
  EXPECT_TRUE(holds(two_threads(loads("r0", "1"), both)));
  EXPECT_FALSE(holds(two_threads(loads("r0", "r0"), both)));
}

TEST(LitmusVerdict, BranchesAreDependencies) {
  const auto guarded = [](const std::string& second) {
    return "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\nbne r0, 1, END | " + second +
           " ;\nst.relaxed.gpu y, 1 | st.relaxed.gpu x, 1 ;\nEND: | END: ;\n";
  };
  const std::string both = "exists (P0:r0 == 1 /\\ P1:r0 == 1)";
  EXPECT_TRUE(holds(two_threads(guarded(""), both)));
  EXPECT_FALSE(holds(two_threads(guarded("bne r0, 1, END"), both)));
}

TEST(LitmusVerdict, CasWritesWhereItsReadIsRight) {
  const auto swaps = [](const std::string& expected) {
    return "atom.relaxed.gpu.cas r0, x, " + expected + ", 1 | atom.relaxed.gpu.cas r0, x, 0, 2 ;\n";
  };
  EXPECT_FALSE(holds(two_threads(swaps("0"), both_zero)));
  EXPECT_TRUE(holds(two_threads(swaps("5"), "forall (x == 2 /\\ P1:r0 == 0)")));
  // Each of two writes of cas would rest on the other: out of thin air.
  EXPECT_FALSE(
      holds(two_threads("atom.relaxed.gpu.cas r0, x, 1, 1 | atom.relaxed.gpu.cas r0, x, 1, 1 ;\n",
                        "exists (P0:r0 == 1)")));
  // What follows a cas does not wait for it.
  EXPECT_TRUE(
      holds(two_threads("atom.relaxed.gpu.cas r0, x, 1, 2 | atom.relaxed.gpu.cas r0, y, 1, 2 ;\n"
                        "st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1 ;\n",
                        "exists (P0:r0 == 1 /\\ P1:r0 == 1)")));
}

TEST(LitmusVerdict, CoherenceOrdersWhatIsMorallyStrong) {
  const auto readers = [](const std::string& store, const std::string& load) {
    return "PTX coherence\n{ x=0; }\n"
           "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;\n" +
           store + " x, 1 | " + store + " x, 2 | " + load + " r0, x | " + load + " r0, x ;\n" +
           " | | " + load + " r1, x | " + load +
           " r1, x ;\n"
           "exists (P2:r0 == 1 /\\ P2:r1 == 2 /\\ P3:r0 == 2 /\\ P3:r1 == 1)\n";
  };
  EXPECT_FALSE(holds(readers("st.relaxed.gpu", "ld.relaxed.gpu")));
  EXPECT_TRUE(holds(readers("st.relaxed.cta", "ld.relaxed.gpu")));
  EXPECT_TRUE(holds(readers("st.weak", "ld.relaxed.gpu")));
}

TEST(LitmusVerdict, ALoadOfANumberIsNoAccess) {
  EXPECT_TRUE(holds(two_threads("ld.weak r0, 7 | ;\nst.weak x, r0 | ;\n",
                                "locations [x; P0:r0]\nforall (x == 7 /\\ P0:r0 == 7)")));
}

TEST(LitmusVerdict, AThreadSeesItsOwnWritesInOrder) {
  EXPECT_FALSE(holds(two_threads("st.weak x, 1 | ;\nst.weak x, 2 | ;\nld.weak r0, x | ;\n",
                                 "exists (P0:r0 != 2 \\/ x != 2)")));
}

TEST(LitmusVerdict, ReadModifyWritesAreAtomicWithinTheirScope) {
  const auto adds = [](const std::string& scope) {
    return "atom.relaxed." + scope + ".add r0, x, 1 | red.relaxed." + scope + ".add x, 1 ;\n";
  };
  EXPECT_TRUE(holds(two_threads(adds("gpu"), "forall (x == 2)")));
  EXPECT_FALSE(holds(two_threads(adds("cta"), "forall (x == 2)")));
  EXPECT_TRUE(holds(two_threads(adds("cta"), "forall (x == 2)", 0)));
  // A weak store is no part of that: both may read it.
  const std::string adds_of_three =
      "PTX race\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n"
      "atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | st.weak x, 5 ;\n"
      "exists (P0:r0 == 5 /\\ P1:r0 == 5)\n";
  EXPECT_TRUE(holds(adds_of_three));
}

TEST(LitmusVerdict, ReleasesReachThroughReadModifyWrites) {
  const std::string rows =
      "st.weak x, 1 | atom.relaxed.gpu.add r0, y, 1 | ld.acquire.gpu r0, y ;\n"
      "st.release.gpu y, 1 | | ld.weak r1, x ;\n";
  EXPECT_TRUE(
      holds("PTX chain\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n" +
            rows + "~exists (P2:r0 == 2 /\\ P1:r0 == 1 /\\ P2:r1 == 0)\n"));
}

TEST(LitmusVerdict, BarriersMeetWithinACta) {
  EXPECT_FALSE(holds(two_threads(store_buffering("bar.cta.sync 0"), both_zero, 0)));
  EXPECT_TRUE(holds(two_threads(store_buffering("bar.cta.sync 0"), both_zero, 1)));
}

TEST(LitmusVerdict, AnArrivalDoesNotWait) {
  const std::string rows =
      "st.weak x, 1 | bar.cta.sync 1 ;\nbar.cta.arrive 1 | ld.weak r0, x ;\n"
      "ld.weak r0, y | ;\n";
  EXPECT_FALSE(holds(two_threads(rows, "exists (P1:r0 == 0)", 0)));
  const std::string back = "bar.cta.arrive 1 | st.weak x, 1 ;\nld.weak r0, x | bar.cta.sync 1 ;\n";
  EXPECT_TRUE(holds(two_threads(back, "exists (P0:r0 == 0)", 0)));
}

TEST(LitmusVerdict, ABarrierIsUsedAgain) {
  const std::string rows =
      "st.weak x, 1 | st.weak y, 1 ;\nbar.cta.sync 0 | bar.cta.sync 0 ;\n"
      "ld.weak r0, y | ld.weak r0, x ;\nbar.cta.sync 0 | bar.cta.sync 0 ;\n"
      "st.weak x, 2 | st.weak y, 2 ;\n";
  EXPECT_TRUE(holds(two_threads(rows, "forall (P0:r0 == 1 /\\ P1:r0 == 1)", 0)));
  EXPECT_TRUE(holds(two_threads(rows, "exists (P0:r0 == 1 /\\ P1:r0 == 1)", 0)));
}

TEST(LitmusVerdict, BarriersInOppositeOrderNeverEnd) {
  const std::string rows = "bar.cta.sync 0 | bar.cta.sync 1 ;\nbar.cta.sync 1 | bar.cta.sync 0 ;\n";
  const Result<Program> program = parse(two_threads(rows, "forall (x == 7)", 0), "made");
  ASSERT_TRUE(program);
  const Verdict verdict = enumerate(*program);
  EXPECT_FALSE(verdict.executable);
  EXPECT_TRUE(verdict.holds);
}

TEST(LitmusVerdict, LoopsAreCutAndSaidToBe) {
  const std::string rows =
      "AGAIN: | ;\nld.relaxed.gpu r0, x | ;\nbeq r0, 0, AGAIN | st.relaxed.gpu x, 1 ;\n";
  const Result<Program> program = parse(two_threads(rows, "exists (P0:r0 == 7)"), "made");
  ASSERT_TRUE(program);
  const Verdict verdict = enumerate(*program);
  EXPECT_FALSE(verdict.holds);
  EXPECT_TRUE(verdict.executable);
  EXPECT_TRUE(verdict.loops_cut());
  EXPECT_EQ(verdict.reached.candidates,
            3U);  // the store is seen at once, or after one or two turns
}

TEST(LitmusVerdict, TooManyCandidatesAreNoVerdict) {
  const Result<Program> program =
      parse(two_threads(store_buffering("fence.sc.gpu"), both_zero), "made");
  ASSERT_TRUE(program);
  Bounds bounds;
  bounds.candidates = 1;
  EXPECT_TRUE(enumerate(*program, bounds).bounded());
}

// Ten threads add to one word: their writes have 10! orders in each of as many candidates, all of
// which but one are wrong, and where it ends with 1 all. What comes to nothing takes its time too.
TEST(LitmusVerdict, OrdersThatAreWrongAreBounded) {
  std::string places;
  std::string row;
  for (int thread = 0; thread < 10; ++thread) {
    const std::string end = thread == 9 ? " ;\n" : " | ";
    places += "P" + std::to_string(thread) + "@cta " + std::to_string(thread) + ",gpu 0" + end;
    row += "atom.relaxed.gpu.add r0, x, 1" + end;
  }
  const Result<Program> program =
      parse("PTX made\n{ x=0; }\n" + places + row + "exists (x == 1)\n", "made");
  ASSERT_TRUE(program);
  Bounds bounds;
  bounds.orders = 5000;
  const Verdict verdict = enumerate(*program, bounds);
  EXPECT_TRUE(verdict.bounded());
  EXPECT_TRUE(verdict.reached.orders_cut);
  EXPECT_FALSE(verdict.reached.candidates_cut);
}

// A thread that waits for what nobody writes, in every way that the others allow.
TEST(LitmusVerdict, DeadEndsAreBounded) {
  const std::string waits =
      " ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\n"
      " L: bne r0, 9, L | st.relaxed.gpu x, 1 ;\n";
  const Result<Program> program = parse(two_threads(waits, "exists (x == 9)"), "made");
  ASSERT_TRUE(program) << program.error().what;
  const Verdict ends = enumerate(*program);
  EXPECT_GT(ends.reached.dead_ends, 0U);
  EXPECT_FALSE(ends.bounded());
  Bounds bounds;
  bounds.candidates = ends.reached.dead_ends - 1;
  EXPECT_TRUE(enumerate(*program, bounds).reached.candidates_cut);
}

TEST(LitmusVerdict, AnExecutionIsShown) {
  const Result<Program> program =
      parse(two_threads(store_buffering("fence.acq_rel.gpu"), both_zero), "made");
  ASSERT_TRUE(program);
  const Verdict verdict = enumerate(*program);
  ASSERT_EQ(verdict.execution.size(), 7U);
  EXPECT_NE(verdict.execution[2].find("P0: ld.weak r0, y"), std::string::npos);
  EXPECT_NE(verdict.execution[2].find("reads 0 from the initial value"), std::string::npos);
  EXPECT_EQ(verdict.execution.back(), "at the end: x=1 y=1");
}

}  // namespace
}  // namespace muster::litmus
