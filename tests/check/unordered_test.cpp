// What is unordered is reported, and what orders it is enough: races, clobbers, memory that is
// freed.
#include "check/asking.hpp"

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
        expect(fabric, fabric.local(data)[0] == 7, "the message has arrived");
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

// A read is before a later write by causality alone, once a converge has completed it.
TEST(Race, ARelaxedSignalOrdersAReadBeforeALaterWrite) {
  const auto program = [](bool told, bool converges = true) {
    return [told, converges](model::Team& team) {
      const auto data = *team.window<int>({1}, "data");
      const Signals read = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        auto tile = fabric.template tile<int, 1, 1>();
        if (fabric.rank() == Rank{0}) {
          (void)fabric.remote_load(tile, data, Rank{1}, Box{0, 0, 1, 1});
          if (converges) fabric.converge();
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
  const Report loading = explore(options_for(2), program(true, false));
  EXPECT_FINDS(loading, race);
  EXPECT_NE(loading.findings[0].missing.find("no converge lies between"), std::string::npos);
}

// What a release carries of asynchronous transfers and of put_signals, on the real operations.
TEST(Race, APutSignalAndAPutAsyncAreCarriedByALaterRelease) {
  const auto program = [](bool async, Order order) {
    return [async, order](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      const Signals told = *team.signals(2);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0} && async)
          fabric.put_async(data, Rank{1}, 0, data, 1, 1);
        else if (fabric.rank() == Rank{0})
          fabric.put_signal(data, Rank{1}, 0, data, 1, 1, told[1], 1, NotifyOp::set);
        if (fabric.rank() == Rank{0})
          return fabric.notify(told[0], Rank{1}, 1, NotifyOp::set, order);
        if (fabric.wait(told[0], Compare::ge, 1) == WaitStatus::ok) fabric.local(data)[0] = 3;
      });
    };
  };
  for (const Profile profile : {Profile::rdma, Profile::direct})
    for (const bool async : {true, false}) {
      EXPECT_VERDICT(explore(options_for(2, profile), program(async, Order::release)), certified);
      EXPECT_FINDS(explore(options_for(2, profile), program(async, Order::relaxed)), race);
    }
}

// The end of a launch flushes for all lanes: no flush is needed before the rank says in a later
// one, by a relaxed notify, that what it put to a third rank is there.
TEST(Race, TheEndOfALaunchFlushes) {
  const auto program = [](bool ends) {
    return [ends](model::Team& team) {
      const auto data = *team.window<int>({4}, "data");
      const Signals told = *team.signals(1);
      const auto sends = [&](auto& fabric) {
        if (fabric.rank() != Rank{0} || fabric.lane() != Lane{0}) return;
        fabric.put_async(data, Rank{2}, 0, data, 1, 1);
        fabric.get_async(data, 2, data, Rank{1}, 3, 1);
      };
      const auto tells = [&](auto& fabric) {
        if (fabric.lane() != Lane{1}) return;
        if (fabric.rank() == Rank{0}) {
          fabric.notify(told[0], Rank{1}, 1, NotifyOp::set, Order::relaxed);
        } else if (fabric.wait(told[0], Compare::ge, 1) == WaitStatus::ok) {
          if (fabric.rank() == Rank{1}) fabric.notify(told[0], Rank{2}, 1, NotifyOp::set);
          (void)static_cast<int>(fabric.local(data)[0]);
          fabric.local(data)[3] = 1;
        }
      };
      if (ends) (void)team.lanes(2, sends);
      (void)team.lanes(2, [&](auto& fabric) {
        if (!ends) sends(fabric);
        tells(fabric);
      });
    };
  };
  for (const Profile profile : {Profile::rdma, Profile::direct}) {
    Options options = options_for(3, profile);
    options.lanes = 2;
    EXPECT_VERDICT(explore(options, program(true)), certified);
    EXPECT_FINDS(explore(options, program(false)), race);
  }
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
          if (flushes) (void)fabric.flush();
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
        if (flushes) (void)fabric.flush();
        fabric.local(data)[1] = 3;
      });
    };
  };
  EXPECT_FINDS(explore(options_for(2, Profile::rdma), program(false)), race);
  EXPECT_VERDICT(explore(options_for(2, Profile::rdma), program(true)), certified);
}

// The cause is told before what it led to.
TEST(Order, ARaceComesBeforeTheExpectationThatItBroke) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) expect(fabric, false, "the neighbour's number");
      if (fabric.rank() == Rank{1}) fabric.local(data)[0] = 7;
      if (fabric.rank() == Rank{0}) fabric.address(data, Rank{1})[0] = 8;
    });
  });
  ASSERT_TRUE(report.has(Kind::expect)) << told(report);
  EXPECT_EQ(report.findings.front().kind, Kind::race) << told(report);
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

TEST(Freed, MemoryThatATransferMayStillReach) {
  const auto program = [](bool flushes) {
    return [flushes](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0}) fabric.put(data, Rank{1}, 0, data, 1, 1);
        if (flushes) (void)fabric.flush();
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

}  // namespace
}  // namespace muster::check
