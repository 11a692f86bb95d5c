// Fetched operations on the model: what they promise, what is refused, what has an end.
#include "check/asking.hpp"
#include "conformance/atomic_bodies.hpp"

namespace muster::check {
namespace {

constexpr Profile profiles[] = {Profile::rdma, Profile::direct, Profile::sc};

// The conformance bodies, in some schedules of many.
TEST(Fetched, KeepsWhatEveryFabricPromises) {
  for (const auto& one : conformance::atomic_cases<model::Team>()) {
    for (const Profile profile : profiles) {
      for (const std::uint32_t ranks : {1U, 2U, 3U}) {
        Options options = options_for(ranks, profile);
        options.strategy = Strategy::random;
        options.executions = 3;
        const Report report = explore(options, [&](model::Team& team) {
          const Result<void> held = one.body(team);
          team.expect(held.has_value(), held.has_value() ? "it holds" : held.error().what.c_str());
        });
        EXPECT_NE(report.verdict, Verdict::refuted) << one.name << ": " << told(report);
      }
    }
  }
}

// Two count on one cell, by different orders of who comes first: complete, and never certified,
// not even where what they find does not matter.
TEST(Fetched, IsSearchedAndNeverCertified) {
  for (const Profile profile : profiles) {
    const Report report = explore(options_for(3, profile), [](model::Team& team) {
      const Signals next = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        const Fetched found = fabric.fetch_add(next[0], Rank{0}, 1, Order::relaxed);
        team.outcome(found.value);
        expect(fabric, found.value < 3, "one of three tickets");
      });
    });
    EXPECT_VERDICT(report, complete);
    EXPECT_NE(report.why_search.find("fetched operations"), std::string::npos) << told(report);
    EXPECT_EQ(report.outcomes.size(), 6U);  // each order of the three
    for (const auto& outcome : report.outcomes) EXPECT_EQ(outcome[0] + outcome[1] + outcome[2], 3U);
  }
}

TEST(Fetched, NamesAWrongRankAndCell) {
  const auto finding = [](std::uint32_t cell, std::uint32_t peer) {
    const Report report = explore(options_for(2), [=](model::Team& team) {
      const Signals one = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        const Fetched found = fabric.exchange(one[cell], Rank{peer}, 1);
        expect(fabric, found.status == WaitStatus::invalid, "the status is invalid");
      });
    });
    EXPECT_FINDS(report, contract);
    EXPECT_FALSE(report.has(Kind::expect)) << told(report);
    return told(report);
  };
  EXPECT_NE(finding(0, 7).find("rank 7 of 2 does not exist"), std::string::npos);
  EXPECT_NE(finding(5, 1).find("signal 5 does not exist"), std::string::npos);
}

// Locks that are polled: each try that fails waits for something new, so the search has an end; on
// sc too, where every order is the strongest.
TEST(Fetched, LoopsOfTriesHaveAnEnd) {
  for (const bool swaps : {false, true}) {
    for (const Profile profile : profiles) {
      const Report report = explore(options_for(3, profile), [&](model::Team& team) {
        const auto number = *team.window<int>({1}, "number");
        const Signals lock = *team.signals(1);
        (void)team.lane([&](auto& fabric) {
          const auto take = [&] {
            return swaps ? fabric.compare_swap(lock[0], Rank{0}, 0, 1)
                         : fabric.exchange(lock[0], Rank{0}, 1);
          };
          while (take().value != 0) {
          }
          auto one = fabric.template tile<int, 1, 1>();
          (void)fabric.remote_load(one, number, Rank{0}, Box{0, 0, 1, 1});
          one.each([](auto, auto, int& value) { ++value; });
          fabric.remote_store(one, number, Rank{0}, Box{0, 0, 1, 1});
          (void)fabric.exchange(lock[0], Rank{0}, 0);
        });
        (void)team.sync();
        (void)team.lane([&](auto& fabric) {
          if (fabric.rank() == Rank{0})
            expect(fabric, fabric.local(number)[0] == 3, "all have counted");
        });
      });
      EXPECT_VERDICT(report, complete);
    }
  }
}

// Nobody gives the lock back: that is said of the place where they poll.
TEST(Fetched, ALoopWithoutEndIsNamed) {
  const Report report = explore(options_for(2), [&](model::Team& team) {
    const Signals lock = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      while (fabric.compare_swap(lock[0], Rank{0}, 0, 1).value != 0) {
      }
    });
  });
  EXPECT_VERDICT(report, bounded);
  EXPECT_NE(report.bound.find("polls at"), std::string::npos) << told(report);
}

// What was replaced is still carried: the third one acquires from the first through the second,
// which orders nothing itself.
TEST(Fetched, CarriesOnWhatItReplaces) {
  for (const bool set : {false, true}) {
    for (const Profile profile : {Profile::rdma, Profile::direct}) {
      const Report report = explore(options_for(3, profile), [&](model::Team& team) {
        const auto number = *team.window<int>({1}, "number");
        const Signals cells = *team.signals(2);
        (void)team.lane([&](auto& fabric) {
          const Rank last{2};
          if (fabric.rank() == Rank{0}) {
            auto one = fabric.template tile<int, 1, 1>();
            one.each([](auto, auto, int& value) { value = 7; });
            fabric.remote_store(one, number, last, Box{0, 0, 1, 1});
            (void)fabric.exchange(cells[0], last, 1, Order::release);
            fabric.notify(cells[1], Rank{1}, 1, NotifyOp::set);
          } else if (fabric.rank() == Rank{1}) {
            if (fabric.wait(cells[1], Compare::ge, 1) != WaitStatus::ok) return;
            // The set replaces it, and speaks of nothing but itself.
            if (set)
              fabric.notify(cells[0], last, 2, NotifyOp::set, Order::relaxed);
            else
              (void)fabric.exchange(cells[0], last, 2, Order::relaxed);
          } else if (fabric.wait(cells[0], Compare::ge, 2) == WaitStatus::ok) {
            expect(fabric, fabric.local(number)[0] == 7, "the first one's number");
          }
        });
      });
      if (set)
        EXPECT_FINDS(report, race);
      else
        EXPECT_VERDICT(report, complete);
    }
  }
}

// Sets and hands beside fetched operations, whichever comes first: unordered, they are an error.
TEST(Fetched, BesideSetsAndHandsIsAClobber) {
  const auto beside = [](int way, std::uint32_t value) {
    return explore(options_for(2), [=](model::Team& team) {
      const Signals cell = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0})
          (void)fabric.fetch_add(cell[0], Rank{1}, value);
        else if (way == 0)
          fabric.notify(cell[0], Rank{1}, 3, NotifyOp::set);
        else if (way == 1)
          (void)fabric.hand(cell[0], Rank{1});
        else
          fabric.notify(cell[0], Rank{1}, 3, NotifyOp::add);
      });
    });
  };
  for (const std::uint32_t value : {0U, 1U}) {
    EXPECT_FINDS(beside(0, value), clobber);
    EXPECT_VERDICT(beside(2, value), complete);
  }
  EXPECT_FINDS(beside(1, 1), clobber);
}

// A compare_swap that fails writes nothing, so a set may give the lock back.
TEST(Fetched, AFailingSwapIsNoWrite) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Signals lock = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      while (fabric.compare_swap(lock[0], Rank{0}, 0, 1).value != 0) {
      }
      fabric.notify(lock[0], Rank{0}, 0, NotifyOp::set);
    });
  });
  EXPECT_VERDICT(report, complete);
}

}  // namespace
}  // namespace muster::check
