// What the model does not see: variables outside the fabric, and loops without an end.
#include "check/asking.hpp"
#include "muster/barrier.hpp"
#include "muster/expect.hpp"

namespace muster::check {
namespace {

void expect_undetermined(const Report& report, const std::string& naming) {
  EXPECT_VERDICT(report, bounded);
  EXPECT_TRUE(report.bound.starts_with("not determined by what the model sees: ")) << told(report);
  EXPECT_NE(report.bound.find(naming), std::string::npos) << told(report);
}

// Each lane tells its peer an epoch and waits for the peer's; `next` says which.
template <class Next>
Program epochs(Next next) {
  return [next](model::Team& team) {
    const Rows rows = *team.rows();
    std::uint32_t epoch = 0;
    (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
      for (std::uint32_t call = 0; call < team.calls(); ++call) {
        const std::uint32_t mine = next(fabric, epoch, call);
        const Rank peer{1 - fabric.rank().value};
        fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, mine, NotifyOp::set);
        (void)fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, call + 1);
      }
    });
  };
}

TEST(Outside, AnEpochThatLanesShareIsNotCertified) {
  Options options = options_for(2, Profile::direct, 2);
  options.lanes = 2;
  const auto shared = [](auto&, std::uint32_t& epoch, std::uint32_t) { return ++epoch; };
  const auto own = [](auto&, std::uint32_t&, std::uint32_t call) { return call + 1; };
  expect_undetermined(explore(options, epochs(shared)), "notify");
  EXPECT_VERDICT(explore(options, epochs(own)), certified);
}

// The same where ranks share it: static, global, and per thread of the process, which all are one.
std::uint32_t global_epoch = 0;
thread_local std::uint32_t thread_epoch = 0;

TEST(Outside, GlobalStaticAndThreadLocalVariablesAreNotCertified) {
  const Options options = options_for(2, Profile::direct, 1);
  const auto global = [](auto&, std::uint32_t&, std::uint32_t) { return ++global_epoch; };
  const auto local_static = [](auto&, std::uint32_t&, std::uint32_t) {
    static std::uint32_t count = 0;
    return ++count;
  };
  const auto per_thread = [](auto&, std::uint32_t&, std::uint32_t) { return ++thread_epoch; };
  expect_undetermined(explore(options, epochs(global)), "notify");
  expect_undetermined(explore(options, epochs(local_static)), "notify");
  expect_undetermined(explore(options, epochs(per_thread)), "notify");
}

// Whoever comes first writes, waits, expects, or stops: each is seen, and named where it is.
template <class Act>
Program first_come(Act act) {
  return [act](model::Team& team) {
    const auto data = *team.window<int>({4}, "data");
    const Signals cells = *team.signals(4);
    int come = 0;
    (void)team.lanes(team.max_lanes(), [&](auto& fabric) { act(fabric, data, cells, come++); });
  };
}

TEST(Outside, EachKindOfOperationIsCompared) {
  Options options = options_for(1);
  options.lanes = 2;
  expect_undetermined(explore(options, first_come([](auto& fabric, auto data, Signals, int come) {
                                fabric.local(data)[come] = 1;
                              })),
                      "write");
  expect_undetermined(explore(options, first_come([](auto& fabric, auto data, Signals, int come) {
                                fabric.local(data)[fabric.lane().value] = come;
                              })),
                      "data[");
  expect_undetermined(explore(options, first_come([](auto& fabric, auto data, Signals, int come) {
                                auto tile = fabric.template tile<int, 1, 1>();
                                fabric.load(tile, data, Box{0, come, 1, 1});
                              })),
                      "load");
  expect_undetermined(explore(options, first_come([](auto& fabric, auto, Signals cells, int come) {
                                if (come == 0)
                                  fabric.notify(cells[0], fabric.rank(), 1, NotifyOp::add);
                              })),
                      "has ended");
  expect_undetermined(explore(options, first_come([](auto& fabric, auto, Signals cells, int come) {
                                fabric.notify(cells[fabric.lane().value], fabric.rank(), 1,
                                              NotifyOp::set);
                                (void)fabric.wait(cells[fabric.lane().value],
                                                  come == 0 ? Compare::ge : Compare::eq, 1);
                              })),
                      "wait");
}

TEST(Outside, ThreadsOfALaneAreRunInTheOppositeOrderToo) {
  Options options = options_for(1);
  options.threads = 2;
  expect_undetermined(explore(options, first_come([](auto& fabric, auto data, Signals, int come) {
                                fabric.local(data)[come] = 1;
                                fabric.converge();
                              })),
                      "write");
}

// In a search too: the same choices, the opposite order.
TEST(Outside, ASearchComparesUnderTheSameChoices) {
  Options options = options_for(3, Profile::direct, 1);
  const auto program = [](bool shared) {
    return [shared](model::Team& team) {
      const auto data = *team.window<int>({4}, "data");
      const Signals all = *team.signals(2);
      static int come = 0;
      come = 0;
      (void)team.lane([&](auto& fabric) {
        fabric.notify(all[0], Rank{0}, 1, NotifyOp::add);
        const int mine = shared ? come++ : static_cast<int>(fabric.rank().value);
        fabric.local(data)[mine] = 1;
        if (fabric.rank() == Rank{0}) (void)fabric.wait(all[0], Compare::ge, 2);
      });
    };
  };
  EXPECT_VERDICT(explore(options, program(false)), complete);
  expect_undetermined(explore(options, program(true)), "write");
}

// Sums of inexact numbers depend on the order of adding; that is no variable outside.
TEST(Outside, InexactSumsAreNoObstacle) {
  const Report report = explore(options_for(3), [](model::Team& team) {
    const auto sum = *team.window<float>({1}, "sum");
    const EpochBarrier barrier(team);
    (void)team.lane([&](auto& fabric) {
      auto tile = fabric.template tile<float, 1, 1>();
      tile.each([&](auto, auto, float& value) {
        value = fabric.rank().value == 0 ? 1e8F : 3.0F + static_cast<float>(fabric.rank().value);
      });
      fabric.remote_add(tile, sum, Rank{0}, Box{0, 0, 1, 1});
      (void)barrier.sync(fabric);
    });
  });
  EXPECT_VERDICT(report, certified);
}

// ---- loops without an end

enum class Poll { test, read, any, window, tile, get, counter };

// Rank 1 polls; rank 0 does, or does not, what ends that.
Program polls(Poll how, bool told) {
  return [how, told](model::Team& team) {
    const auto data = *team.window<int>({2}, "data");
    const Rows rows = *team.rows();
    const Signals cells = *team.signals(2);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        if (told) fabric.notify(cells[0], Rank{1}, 1, NotifyOp::set);
        return;
      }
      auto tile = fabric.template tile<int, 1, 1>();
      int seen = 0;
      fabric.notify(cells[1], Rank{1}, 1, NotifyOp::set);
      const Condition either[] = {{cells[0], Compare::ge, 1}, {cells[1], Compare::ge, 1}};
      for (bool more = true; more;) switch (how) {
          case Poll::test: more = fabric.test(cells[0], Compare::ge, 1) != WaitStatus::ok; break;
          case Poll::read: more = fabric.read(cells[0]) == 0; break;
          case Poll::any: more = fabric.wait_any(either, 2).index != 0; break;
          case Poll::window: more = fabric.local(data)[0] == 0; break;
          case Poll::tile:
            fabric.load(tile, data, Box{0, 0, 1, 1});
            tile.each([&](auto, auto, int& value) { seen = value; });
            more = seen == 0;
            break;
          case Poll::get:
            (void)fabric.get(data, 1, data, Rank{0}, 0, 1);
            more = fabric.local(data)[1] == 0;
            break;
          case Poll::counter: more = fabric.counter(rows.epoch(fabric.lane())) == 0; break;
        }
    });
  };
}

TEST(NoEnd, APollThatNothingEndsIsBoundedAndNamed) {
  for (const Poll how :
       {Poll::test, Poll::read, Poll::any, Poll::window, Poll::tile, Poll::get, Poll::counter})
    for (const std::uint64_t executions : {10U, 2'000'000U}) {
      Options options = options_for(2);
      options.executions = executions;
      const Report report = explore(options, polls(how, false));
      EXPECT_VERDICT(report, bounded) << static_cast<int>(how);
      EXPECT_TRUE(report.bound.starts_with("rank 1 polls at outside_test.cpp:"))
          << static_cast<int>(how) << told(report);
    }
}

TEST(NoEnd, APollThatADepositEndsIsExplored) {
  for (const Poll how : {Poll::test, Poll::read, Poll::any})
    for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
      const Report report = explore(options_for(2, profile), polls(how, true));
      EXPECT_VERDICT(report, complete) << static_cast<int>(how) << name_of(profile);
      EXPECT_TRUE(report.polls);
    }
}

// A poll over data is a race as soon as somebody writes there.
TEST(NoEnd, APollOverWindowDataIsARace) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) fabric.address(data, Rank{1})[0] = 1;
      while (fabric.rank() == Rank{1} && fabric.local(data)[0] == 0) {
      }
    });
  });
  EXPECT_FINDS(report, race);
}

// Code that gives up after a few polls does so in some execution, though the deposit comes.
TEST(NoEnd, APollThatGivesUpIsExploredBothWays) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Signals cells = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) return fabric.notify(cells[0], Rank{1}, 1, NotifyOp::set);
      int polled = 0;
      while (polled < 5 && fabric.test(cells[0], Compare::ge, 1) != WaitStatus::ok) ++polled;
      fabric.outcome(polled == 5 ? 1 : 0);
    });
  });
  EXPECT_VERDICT(report, complete);
  EXPECT_EQ(report.outcomes.size(), 2U);
}

// Code that counts its polls may see what comes after any number of them, each a way of its own.
TEST(NoEnd, EachPollThatIsCountedIsTriedByItself) {
  const auto body = [](model::Team& team) {
    const Signals cells = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) return fabric.notify(cells[0], Rank{1}, 1, NotifyOp::set);
      std::uint64_t polled = 0;
      while (polled < 4 && fabric.test(cells[0], Compare::ge, 1) != WaitStatus::ok) ++polled;
      fabric.outcome(polled);
      expect(fabric, team.calls() == 1 || polled != 3, "never after three");
    });
  };
  const Report report = explore(options_for(2), body);
  EXPECT_VERDICT(report, complete);
  EXPECT_EQ(report.outcomes.size(), 5U);

  // What the search has learnt of its polls is part of the replay.
  Options options = options_for(2, Profile::direct, 2);
  const Report refuted = explore(options, body);
  EXPECT_FINDS(refuted, expect);
  options.replay = refuted.replay;
  EXPECT_FINDS(explore(options, body), expect);
}

// Threads of a lane that poll together, as a spinning wait with a converge does.
TEST(NoEnd, ALaneMayPollTogether) {
  for (const bool ends : {false, true}) {
    Options options = options_for(2);
    options.threads = 2;
    const Report report = explore(options, [ends](model::Team& team) {
      const Signals cells = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank{0}) {
          if (ends && fabric.thread() == 0) fabric.notify(cells[0], Rank{1}, 1, NotifyOp::set);
          return;
        }
        WaitStatus status = WaitStatus::pending;
        while (status == WaitStatus::pending) {
          status = fabric.thread() == 0 ? fabric.test(cells[0], Compare::ge, 1) : WaitStatus::ok;
          status = fabric.broadcast(status);
        }
      });
    });
    EXPECT_EQ(report.verdict, ends ? Verdict::complete : Verdict::bounded) << told(report);
    EXPECT_EQ(report.bound.starts_with("rank 1 thread 0 polls at "), !ends) << told(report);
  }
}

TEST(NoEnd, HaltEndsASearchOfManyShortExecutions) {
  Options options = options_for(6, Profile::direct, 3);
  options.halt = [asked = 0]() mutable { return ++asked > 100; };
  const Report report = explore(options, [](model::Team& team) {
    const CounterBarrier barrier(team);
    (void)team.lane([&](auto& fabric) {
      for (std::uint32_t call = 0; call < team.calls(); ++call)
        if (barrier.sync(fabric) != WaitStatus::ok) return;
    });
  });
  EXPECT_VERDICT(report, bounded);
  EXPECT_LT(report.executions, 10'000U);
}

TEST(NoEnd, HaltEndsALongExecution) {
  Options options = options_for(1);
  options.steps = ~std::uint64_t{0};
  options.halt = [asked = 0]() mutable { return ++asked > 3; };
  const Report report = explore(options, [](model::Team& team) {
    (void)team.lane([&](auto& fabric) {
      for (;;) (void)fabric.flush();
    });
  });
  EXPECT_VERDICT(report, bounded);
  EXPECT_TRUE(report.bound.starts_with("stopped after")) << told(report);
}

}  // namespace
}  // namespace muster::check
