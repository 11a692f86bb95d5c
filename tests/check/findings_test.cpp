// What is reported besides what is unordered and what is refused: one small program for each thing
// that can be wrong, and for what is not.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/asking.hpp"

namespace muster::check {
namespace {

TEST(Deadlock, NamesTheCellAndWhatItIs) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Signals cell = *team.signals(2);
    (void)team.lane([&](auto& fabric) {
      const Rank peer{1 - fabric.rank().value};
      if (fabric.wait(cell[1], Compare::ge, 5) == WaitStatus::ok)
        fabric.notify(cell[1], peer, 5, NotifyOp::set);
    });
  });
  ASSERT_TRUE(report.has(Kind::deadlock));
  EXPECT_NE(report.findings[0].what.find("signals 0[1] of rank 0 >= 5 (it is 0)"),
            std::string::npos)
      << told(report);
}

TEST(Vacuous, ABodyThatNothingCanGoWrongInSaysSo) {
  const auto said = [](const Program& program) { return explore(options_for(2), program).bound; };
  EXPECT_NE(said([](model::Team&) {}).find("vacuous"), std::string::npos);
  EXPECT_NE(said([](model::Team& team) {
              (void)team.lane([](auto& f) { f.converge(); });
            }).find("vacuous"),
            std::string::npos);
  EXPECT_EQ(said([](model::Team& team) {
              (void)team.lane([](auto& fabric) { expect(fabric, true, "something"); });
            }),
            "");
}

// A value that comes and goes may be missed.
TEST(Deadlock, AnEqualityMayBeMissed) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        fabric.notify(cell[0], Rank{1}, 1, NotifyOp::add);
        fabric.notify(cell[0], Rank{1}, 1, NotifyOp::add);
      } else {
        (void)fabric.wait(cell[0], Compare::eq, 1);
      }
    });
  });
  EXPECT_FINDS(report, deadlock);
  EXPECT_NE(report.findings[0].missing.find("has passed"), std::string::npos);
}

TEST(StalePass, ABarrierThatWaitsForOneOfTwo) {
  const Report report = explore(options_for(3), [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      (void)barrier_call(fabric, [&] {
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(cell[0], peer, 1, NotifyOp::add); });
        return fabric.wait(cell[0], Compare::ge, 1);
      });
    });
  });
  EXPECT_FINDS(report, stale_pass);
}

TEST(Credits, LeftOverAndNegative) {
  const auto program = [](int back) {
    return [back](model::Team& team) {
      const Signals cell = *team.signals(1);
      team.promise_zero(cell);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0}) return fabric.notify(cell[0], Rank{1}, 1, NotifyOp::add);
        if (fabric.wait(cell[0], Compare::ge, 1) != WaitStatus::ok || back == 0) return;
        fabric.notify(cell[0], Rank{1}, static_cast<std::uint32_t>(-back), NotifyOp::add);
      });
    };
  };
  EXPECT_VERDICT(explore(options_for(2), program(1)), certified);
  EXPECT_FINDS(explore(options_for(2), program(0)), credits);
  EXPECT_FINDS(explore(options_for(2), program(2)), credits);
}

// An add of a negative number where another waits, or where several give such adds, takes nothing
// back: a latch that counts down, lanes that share a semaphore.
TEST(Credits, AddsOfNegativeNumbersAreNoTakeBacks) {
  const auto latch = [](bool promised) {
    return [promised](model::Team& team) {
      const Signals left = *team.signals(1);
      const Signals begun = *team.signals(1);
      const auto done = *team.window<int>({4}, "done");
      if (promised) team.promise_zero(left);
      (void)team.lane([&](auto& fabric) -> WaitStatus {
        const std::uint32_t workers = fabric.size() - 1;
        if (fabric.rank() != Rank{0}) {
          const WaitStatus status = fabric.wait(begun[0], Compare::ge, 1);
          auto one = fabric.template tile<int, 1, 1>();
          fabric.remote_store(one, done, Rank{0}, Box{0, fabric.rank().value, 1, 1});
          fabric.notify(left[0], Rank{0}, ~0U, NotifyOp::add);
          return status;
        }
        fabric.notify(left[0], Rank{0}, workers, NotifyOp::set);
        for_each_peer(fabric, [&](Rank peer) { fabric.notify(begun[0], peer, 1, NotifyOp::set); });
        const WaitStatus status = fabric.wait(left[0], Compare::le, 0);
        if (status == WaitStatus::ok)
          for (std::uint32_t worker = 1; worker <= workers; ++worker)
            (void)static_cast<int>(fabric.local(done)[worker]);
        return status;
      });
    };
  };
  const auto semaphore = [](model::Team& team) {
    const Signals free = *team.signals(1);
    (void)team.lane([&](auto& fabric) { fabric.notify(free[0], fabric.rank(), 2, NotifyOp::add); });
    (void)team.lanes(2, [&](auto& fabric) -> WaitStatus {
      fabric.notify(free[0], fabric.rank(), ~0U, NotifyOp::add);
      const WaitStatus status = fabric.wait(free[0], Compare::ge, 0);
      fabric.notify(free[0], fabric.rank(), 1, NotifyOp::add);
      return status;
    });
  };
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    EXPECT_VERDICT(explore(options_for(2, profile), latch(false)), certified);
    EXPECT_VERDICT(explore(options_for(4, profile), latch(false)), certified);
    EXPECT_FINDS(explore(options_for(2, profile), latch(true)), credits);
    Options options = options_for(1, profile);
    options.lanes = 2;
    const Report report = explore(options, semaphore);
    EXPECT_TRUE(report.good() && report.verdict != Verdict::bounded) << told(report);
  }
}

TEST(Divergence, ThreadsAndRanks) {
  Options options = options_for(1);
  options.threads = 2;
  EXPECT_FINDS(explore(options,
                       [](model::Team& team) {
                         (void)team.lane([](auto& fabric) {
                           if (fabric.thread() == 0) fabric.converge();
                         });
                       }),
               divergence);
  // Outside of the macro, in which both would be in one place.
  const Program two_places = [](model::Team& team) {
    (void)team.lane([](auto& fabric) {
      if (fabric.thread() == 0)  // NOLINT(bugprone-branch-clone): the places differ
        fabric.converge();
      else
        fabric.converge();
    });
  };
  EXPECT_FINDS(explore(options, two_places), divergence);
  EXPECT_FINDS(explore(options_for(2),
                       [](model::Team& team) {
                         if (team.rank() == Rank{0})
                           (void)team.signals(1);
                         else
                           (void)team.signals(2);
                       }),
               divergence);
  EXPECT_FINDS(explore(options_for(2),
                       [](model::Team& team) {
                         if (team.rank() == Rank{0}) (void)team.sync();
                       }),
               divergence);
}

TEST(Expect, NamesTheAssertion) {
  const Report report =
      explore(options_for(2), [](model::Team& team) { team.expect(false, "two and two is five"); });
  ASSERT_TRUE(report.has(Kind::expect));
  EXPECT_NE(report.findings[0].what.find("two and two is five"), std::string::npos);
}

// Store buffering: both ranks may miss the other's deposit, but not on sc.
TEST(Outcomes, StoreBuffering) {
  const auto program = [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      fabric.notify(cell[0], Rank{1 - fabric.rank().value}, 1, NotifyOp::set);
      fabric.outcome(fabric.read(cell[0]));
    });
  };
  using Outcomes = std::set<std::vector<std::uint64_t>>;
  EXPECT_EQ(explore(options_for(2), program).outcomes, (Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(explore(options_for(2, Profile::sc), program).outcomes,
            (Outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

// Coherence: what was read once is read again.
TEST(Outcomes, ReadsOfOneCellDoNotGoBack) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) return fabric.notify(cell[0], Rank{1}, 1, NotifyOp::set);
      fabric.outcome(fabric.read(cell[0]));
      fabric.outcome(fabric.read(cell[0]));
    });
  });
  EXPECT_EQ(report.outcomes, (std::set<std::vector<std::uint64_t>>{{0, 0}, {0, 1}, {1, 1}}));
}

// An element has no place of its own: it is reported where local() or address() was called.
TEST(Trace, ElementsAreReportedWhereTheirViewWasAskedFor) {
  constexpr unsigned write_line = __LINE__ + 6;
  Options options = options_for(2);
  options.trace = true;
  const Report report = explore(options, [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) fabric.address(data, Rank{1})[0] = 1;
      if (fabric.rank() == Rank{1}) (void)static_cast<int>(fabric.local(data)[0]);
    });
  });
  EXPECT_FINDS(report, race);
  std::map<std::string, std::string> places;
  for (const Event& event : report.events) places[event.what] = event.where;
  const std::string file = "findings_test.cpp:";
  EXPECT_EQ(places["write data[0] of rank 1"], file + std::to_string(write_line));
  EXPECT_EQ(places["read data[0] of rank 1"], file + std::to_string(write_line + 1));
}

}  // namespace
}  // namespace muster::check
