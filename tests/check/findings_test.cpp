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
          fabric.remote_load(tile, data, Rank{1}, Box{0, 0, 1, 1});
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
TEST(Vacuous, ABodyThatNothingCanGoWrongInSaysSo) {
  const auto said = [](const Program& program) { return explore(options_for(2), program).bound; };
  EXPECT_NE(said([](model::Team&) {}).find("vacuous"), std::string::npos);
  EXPECT_NE(
      said([](model::Team& team) { (void)team.lane([](auto& f) { f.flush(); }); }).find("vacuous"),
      std::string::npos);
  EXPECT_EQ(said([](model::Team& team) {
              (void)team.lane([](auto& fabric) { expect(fabric, true, "something"); });
            }),
            "");
}

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

// Every refusal of src/fabric/host and of the GPU's checks, in the order of host/fabric.cpp.
TEST(Contract, WhatAFabricRefuses) {
  constexpr std::int64_t lines = packet_lines<int>(1);
  const auto refused = [&](auto body) {
    for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc})
      EXPECT_FINDS(
          explore(options_for(2, profile),
                  [&](model::Team& team) {
                    const auto data = *team.window<int>({2, 2}, "data");
                    const auto slots = *team.window<PacketLine>({lines}, "slots");
                    const Signals cell = *team.signals(1);
                    (void)team.lane([&](auto& fabric) { body(fabric, data, slots, cell[0]); });
                  }),
          contract);
  };
  using W = WindowRef<int>;
  const Signal none{0, 7};
  const Rank other{2};
  // wait_any
  refused([](auto& f, W, Slots, Signal) { (void)f.wait_any(nullptr, 0); });
  refused([&](auto& f, W, Slots, Signal) {
    const Condition one{none, Compare::ge, 0};
    (void)f.wait_any(&one, 1);
  });
  // packets
  refused([](auto& f, W, Slots slots, Signal) { f.clear_packets(slots, 0, lines + 1); });
  refused([](auto& f, W data, Slots, Signal) {
    f.clear_packets(Slots{data.offset, 1, 1, data.segment}, 0, 1);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, Rank{1}, 0, tile, 0);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    (void)f.wait_packets(tile, slots, 0, 0);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, Rank{1}, 1, tile, 1);
  });
  refused([&](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, other, 0, tile, 1);
  });
  // cells and peers
  refused([&](auto& f, W, Slots, Signal cell) { f.notify(cell, other, 1, NotifyOp::set); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.wait(none, Compare::ge, 0); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.test(none, Compare::ge, 0); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.read(none); });
  refused([&](auto& f, W, Slots, Signal cell) { (void)f.hand(cell, other); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.take(none); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.counter(Counter{0, 7}); });
  refused([&](auto& f, W, Slots, Signal) { f.set_counter(Counter{0, 7}, 1); });
  refused([&](auto& f, W d, Slots, Signal) { (void)f.address(d, other); });
  // windows of another team, or freed
  refused([](auto& f, W d, Slots, Signal) {
    d.team = 1;
    f.put(d, Rank{1}, 0, d, 1, 1);
  });
  refused([](auto& f, W d, Slots, Signal) {
    d.segment = 9;
    f.put(d, Rank{1}, 0, d, 1, 1);
  });
  refused([](auto& f, W d, Slots, Signal) {
    d.segment = 9;
    (void)static_cast<int>(f.local(d)[0]);
  });
  // boxes
  for (const Box box : {Box{1, 0, 2, 1}, Box{0, -1, 1, 1}, Box{0, 0, 1, -1}, Box{0, 0, 2, 2}}) {
    refused([&](auto& f, W d, Slots, Signal) {
      auto tile = f.template tile<int, 2, 1>();
      f.load(tile, d, box);
    });
    refused([&](auto& f, W d, Slots, Signal) {
      auto tile = f.template tile<int, 2, 1>();
      f.remote_add(tile, d, Rank{1}, box);
    });
  }
  refused([&](auto& f, W d, Slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.remote_store(tile, d, other, Box{0, 0, 1, 1});
  });
  // runs
  refused([](auto& f, W d, Slots, Signal) { f.put(d, Rank{1}, 0, d, -1, 1); });
  refused([](auto& f, W d, Slots, Signal) { f.put(d, Rank{1}, 0, d, 0, -1); });
  refused([](auto& f, W d, Slots, Signal) { f.get(d, 3, d, Rank{1}, 0, 2); });
  refused([&](auto& f, W d, Slots, Signal) { f.get(d, 0, d, other, 0, 1); });
  refused([](auto& f, W d, Slots, Signal cell) {
    f.put_signal(d, Rank{1}, 4, d, 0, 1, cell, 1, NotifyOp::set);
  });
  refused([&](auto& f, W d, Slots, Signal) {
    f.put_signal(d, Rank{1}, 0, d, 0, 1, none, 1, NotifyOp::set);
  });
  // overlaps
  refused([](auto& f, W d, Slots, Signal) { f.put(d, f.rank(), 0, d, 1, 2); });
  refused([](auto& f, W d, Slots, Signal) { f.put(d, f.rank(), 1, d, 1, 1); });
  refused([](auto& f, W d, Slots, Signal) { f.put_async(d, f.rank(), 1, d, 0, 2); });
  refused([](auto& f, W d, Slots, Signal) { f.get(d, 0, d, f.rank(), 1, 2); });
  refused([](auto& f, W d, Slots, Signal) { f.get_async(d, 1, d, f.rank(), 0, 2); });
  refused([](auto& f, W d, Slots, Signal cell) {
    f.put_signal(d, f.rank(), 0, d, 1, 2, cell, 1, NotifyOp::set);
  });
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
