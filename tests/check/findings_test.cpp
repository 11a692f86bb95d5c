// What is reported: one small program for each thing that can be wrong, and for what is not.
#include <map>

#include "check/asking.hpp"
#include "muster/barrier.hpp"

namespace muster::check {
namespace {

// Rank 0 writes where rank 1 reads, with these orders on the signal between.
Program message(Order notify, Order wait) {
  return [=](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const Signals ready = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        auto tile = fabric.template tile<int, 1, 1>();
        tile.each([](auto, auto, int& value) { value = 7; });
        fabric.remote_store(tile, data, Rank{1}, Box{0, 0, 1, 1});
        fabric.notify(ready[0], Rank{1}, 1, NotifyOp::set, notify);
      } else if (fabric.rank() == Rank{1}) {
        if (fabric.wait(ready[0], Compare::ge, 1, wait) != WaitStatus::ok) return;
        fabric.expect(fabric.local(data)[0] == 7, "the message has arrived");
      }
    });
  };
}

TEST(Race, NeedsReleaseAndAcquire) {
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    const Options options = options_for(2, profile);
    EXPECT_VERDICT(explore(options, message(Order::release, Order::acquire)), certified);
    EXPECT_FINDS(explore(options, message(Order::relaxed, Order::acquire)), race);
    EXPECT_FINDS(explore(options, message(Order::release, Order::relaxed)), race);
  }
  // Everything is ordered on sc.
  EXPECT_VERDICT(explore(options_for(2, Profile::sc), message(Order::relaxed, Order::relaxed)),
                 certified);
}

// A read is before a later write by causality alone.
TEST(Race, ARelaxedSignalOrdersAReadBeforeALaterWrite) {
  const auto program = [](bool told) {
    return [told](model::Team& team) {
      const auto data = *team.window<int>({1}, "data");
      const Signals read = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        auto tile = fabric.template tile<int, 1, 1>();
        if (fabric.rank() == Rank{0}) {
          fabric.remote_load(tile, data, Rank{1}, Box{0, 0, 1, 1});
          fabric.notify(read[0], Rank{1}, 1, NotifyOp::set, Order::relaxed);
        } else {
          if (told && fabric.wait(read[0], Compare::ge, 1, Order::relaxed) != WaitStatus::ok)
            return;
          fabric.local(data)[0] = 1;
        }
      });
    };
  };
  EXPECT_VERDICT(explore(options_for(2), program(true)), certified);
  EXPECT_FINDS(explore(options_for(2), program(false)), race);
}

// A put to a third rank is carried by a release to it alone, or completed by flush.
TEST(Race, ThirdRankNeedsFlush) {
  const auto program = [](bool flushes) {
    return [flushes](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      const Signals told = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        const Rank me = fabric.rank();
        if (me == Rank{0}) {
          fabric.put(data, Rank{2}, 0, data, 1, 1);
          if (flushes) fabric.flush();
          fabric.notify(told[0], Rank{1}, 1, NotifyOp::set);
        } else if (me == Rank{1}) {
          if (fabric.wait(told[0], Compare::ge, 1) == WaitStatus::ok)
            fabric.notify(told[0], Rank{2}, 1, NotifyOp::set);
        } else if (fabric.wait(told[0], Compare::ge, 1) == WaitStatus::ok) {
          (void)static_cast<int>(fabric.local(data)[0]);
        }
      });
    };
  };
  EXPECT_FINDS(explore(options_for(3, Profile::rdma), program(false)), race);
  EXPECT_VERDICT(explore(options_for(3, Profile::rdma), program(true)), certified);
  EXPECT_VERDICT(explore(options_for(3, Profile::direct), program(false)), certified);
}

TEST(Race, SourceOfAnAsynchronousPutNeedsFlush) {
  const auto program = [](bool flushes) {
    return [flushes](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() != Rank{0}) return;
        fabric.put_async(data, Rank{1}, 0, data, 1, 1);
        if (flushes) fabric.flush();
        fabric.local(data)[1] = 3;
      });
    };
  };
  EXPECT_FINDS(explore(options_for(2, Profile::rdma), program(false)), race);
  EXPECT_VERDICT(explore(options_for(2, Profile::rdma), program(true)), certified);
}

TEST(Clobber, SetsByTwoWriters) {
  const Report report = explore(options_for(3), [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() != Rank{0}) fabric.notify(cell[0], Rank{0}, 1, NotifyOp::set);
    });
  });
  EXPECT_FINDS(report, clobber);
}

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

TEST(Contract, WhatDoesNotExist) {
  const auto lane = [](auto body) {
    return [body](model::Team& team) {
      const auto data = *team.window<int>({4}, "data");
      const Signals cell = *team.signals(1);
      (void)team.lane([&](auto& fabric) { body(fabric, data, cell); });
    };
  };
  const auto contract = [&](Profile profile, auto body) {
    EXPECT_FINDS(explore(options_for(2, profile), lane(body)), contract);
  };
  contract(Profile::direct, [](auto& fabric, auto, Signals cell) {
    fabric.notify(cell[0], Rank{2}, 1, NotifyOp::set);
  });
  contract(Profile::direct, [](auto& fabric, auto, Signals cell) {
    fabric.notify(cell[1], Rank{1}, 1, NotifyOp::set);
  });
  contract(Profile::direct, [](auto& fabric, auto data, Signals) { fabric.local(data)[4] = 1; });
  contract(Profile::direct,
           [](auto& fabric, auto data, Signals) { fabric.put(data, Rank{1}, 2, data, 0, 3); });
  contract(Profile::rdma,
           [](auto& fabric, auto data, Signals) { (void)fabric.address(data, Rank{1}); });
}

TEST(Freed, MemoryThatATransferMayStillReach) {
  const auto program = [](bool flushes) {
    return [flushes](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0}) fabric.put(data, Rank{1}, 0, data, 1, 1);
        if (flushes) fabric.flush();
      });
      if (flushes) (void)team.sync();
      (void)team.free(data);
    };
  };
  EXPECT_FINDS(explore(options_for(2, Profile::rdma), program(false)), race);
  EXPECT_VERDICT(explore(options_for(2, Profile::rdma), program(true)), certified);
}

// A wait that has expired has acquired nothing.
TEST(Expiry, TakenForSuccess) {
  const auto program = [](bool looks) {
    return [looks](model::Team& team) {
      const auto data = *team.window<int>({1}, "data");
      const Signals ready = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0}) {
          fabric.put(data, Rank{1}, 0, data, 0, 1);
          fabric.notify(ready[0], Rank{1}, 1, NotifyOp::set);
          return;
        }
        const WaitStatus status = fabric.wait(ready[0], Compare::ge, 1);
        if (looks && status != WaitStatus::ok) return;
        (void)static_cast<int>(fabric.local(data)[0]);
      });
    };
  };
  Options options = options_for(2);
  EXPECT_VERDICT(explore(options, program(false)), certified);
  options.expire = 1;
  EXPECT_FINDS(explore(options, program(false)), race);
  EXPECT_VERDICT(explore(options, program(true)), complete);
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
