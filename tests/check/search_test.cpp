// How much is explored: certificates, leaf counts, bounds, random schedules, replay.
#include <sys/resource.h>

#include "check/asking.hpp"
#include "muster/barrier.hpp"

namespace muster::check {
namespace {

template <class Barrier>
Program only() {
  return [](model::Team& team) {
    const Barrier barrier(team);
    (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
      for (std::uint32_t call = 0; call < team.calls(); ++call)
        if (barrier_call(fabric, [&] { return barrier.sync(fabric); }) != WaitStatus::ok) return;
    });
  };
}

// One shared cell, one call: every deposit is needed, so one execution stands for all.
TEST(Leaves, OneSharedCellOneCallIsCertified) {
  for (std::uint32_t ranks = 2; ranks <= 6; ++ranks) {
    const Report report = explore(options_for(ranks), only<CounterBarrier>());
    EXPECT_VERDICT(report, certified);
    EXPECT_EQ(report.executions, 1U);
  }
}

// Two calls: a fast peer's second deposit may stand for a slow peer's first.
TEST(Leaves, OneSharedCellTwoCalls) {
  constexpr std::uint64_t most[] = {1, 4, 41, 996};
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    const Report report = explore(options_for(ranks, Profile::direct, 2), only<CounterBarrier>());
    EXPECT_TRUE(answered(report)) << told(report);
    EXPECT_LE(report.executions, most[ranks - 2]) << ranks << " ranks";
  }
}

TEST(Leaves, DedicatedCellsAreCertifiedUpTo32Ranks) {
  for (const std::uint32_t ranks : {2U, 5U, 16U, 32U})
    EXPECT_VERDICT(explore(options_for(ranks, Profile::rdma, 2), only<EpochBarrier>()), certified);
}

// Two lanes that share nothing are searched one after the other, not in all combinations.
TEST(Leaves, LanesThatShareNothingAddUp) {
  Options options = options_for(4, Profile::direct, 2);
  const std::uint64_t alone = explore(options, only<CounterBarrier>()).executions;
  options.lanes = 2;
  EXPECT_EQ(explore(options, only<CounterBarrier>()).executions, 2 * alone - 1);
}

TEST(Leaves, ASearchAgreesWithTheCertificate) {
  Options options = options_for(2, Profile::rdma, 2);
  options.certificate = false;
  EXPECT_VERDICT(explore(options, only<EpochBarrier>()), complete);
}

// On a profile that needs a long search, what a few schedules show is found before it.
TEST(Bounds, QuickLeavesTheLongSearchOut) {
  Options options = options_for(6, Profile::direct, 3);
  options.quick = true;
  const Report report = explore(options, only<CounterBarrier>());
  EXPECT_VERDICT(report, bounded);
  EXPECT_TRUE(report.unfinished);
  EXPECT_LT(report.executions, 1000U);
}

TEST(Bounds, TooManyExecutionsAreSaidToBeBounded) {
  Options options = options_for(5, Profile::direct, 2);
  options.executions = 100;
  const Report report = explore(options, only<CounterBarrier>());
  EXPECT_VERDICT(report, bounded);
  EXPECT_FALSE(report.bound.empty());
}

// A protocol that is wrong only where the schedule is unlucky: a third rank's deposit is enough.
Program waits_for_any_one() {
  return [](model::Team& team) {
    const auto data = *team.window<int>({team.size()}, "data");
    const Signals all = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      const Rank me = fabric.rank();
      if (me.value > 0) {
        auto tile = fabric.template tile<int, 1, 1>();
        fabric.remote_store(tile, data, Rank{0}, Box{0, me.value, 1, 1});
        fabric.notify(all[0], Rank{0}, 1, NotifyOp::add);
        return;
      }
      if (fabric.wait(all[0], Compare::ge, fabric.size() - 2) != WaitStatus::ok) return;
      (void)static_cast<int>(fabric.local(data)[1]);
    });
  };
}

TEST(Strategies, SearchRandomAndPctAllFindIt) {
  for (const Strategy strategy : {Strategy::search, Strategy::random, Strategy::pct}) {
    Options options = options_for(4);
    options.strategy = strategy;
    options.executions = 1000;
    const Report report = explore(options, waits_for_any_one());
    EXPECT_VERDICT(report, refuted);
    EXPECT_FINDS(report, race);
    options.replay = report.replay;
    const Report again = explore(options, waits_for_any_one());
    EXPECT_FINDS(again, race);
    EXPECT_EQ(again.findings.front().what, report.findings.front().what);
  }
}

std::string everything(const Report& report) {
  std::string text = told(report) + report.replay + std::to_string(report.executions);
  for (const Event& event : report.events) text += event.what + event.where;
  for (const Site& site : report.sites) text += site.key();
  return text;
}

TEST(Determinism, TheSameQuestionHasTheSameAnswer) {
  for (const Strategy strategy : {Strategy::search, Strategy::random, Strategy::pct}) {
    Options options = options_for(4);
    options.strategy = strategy;
    options.executions = 500;
    options.trace = true;
    EXPECT_EQ(everything(explore(options, waits_for_any_one())),
              everything(explore(options, waits_for_any_one())));
  }
}

long resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Memory is that of one execution and one path of choices, however many there are.
TEST(Memory, DoesNotGrowWithTheNumberOfExecutions) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own book-keeping is resident too, and it keeps freed memory back";
#endif
  Options options = options_for(5, Profile::direct, 2);
  (void)explore(options, only<CounterBarrier>());
  const long before = resident_kib();
  for (int i = 0; i < 5; ++i) (void)explore(options, only<CounterBarrier>());
  EXPECT_LT(resident_kib() - before, 4096);
}

}  // namespace
}  // namespace muster::check
