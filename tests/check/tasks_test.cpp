// Task graphs under the checker: tasks are threads, deps are edges, workers are few.
#include <stdexcept>

#include "check/asking.hpp"
#include "muster/expect.hpp"
#include "muster/task.hpp"

namespace muster::check {
namespace {

using task::Graph;
using task::TaskId;
using task::Waiter;

Options with_tasks(std::uint32_t tasks, std::uint32_t workers, std::uint32_t ranks = 1) {
  Options options = options_for(ranks, Profile::direct);
  options.tasks = tasks;
  options.lanes = workers;
  return options;
}

// Two tasks touch one element; `ordered`: the second depends on the first.
Program two_tasks(bool ordered) {
  return [ordered](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    Graph graph(team);
    const TaskId first =
        graph.submit("first", {}, [&](auto& fabric) { fabric.local(data)[0] = 1; });
    graph.submit("second", ordered ? task::Deps{first} : task::Deps{}, [&](auto& fabric) {
      expect(fabric, fabric.local(data)[0] == 1, "what the first wrote");
    });
    EXPECT_TRUE(graph.wait_all());
  };
}

TEST(Tasks, AnEdgeOrdersAndNothingElseDoes) {
  for (const std::uint32_t workers : {1U, 2U}) {
    EXPECT_VERDICT(explore(with_tasks(2, workers), two_tasks(true)), certified);
    EXPECT_FINDS(explore(with_tasks(2, workers), two_tasks(false)), race);
  }
}

// Ranks tell each other, by waiters that are submitted before who tells.
Program exchange(bool release) {
  return [release](model::Team& team) {
    const auto inbox = *team.window<int>({1}, "inbox");
    const Signals cells = *team.signals(1);
    Graph graph(team);
    const TaskId arrived = graph.submit_waiter(
        "arrived", [&](Waiter& waiter) { waiter.defer_wait(cells[0], Compare::ge, 1); });
    graph.submit_spmd("consume", 2, {arrived}, [&](auto& fabric, std::uint32_t) {
      expect(fabric, fabric.local(inbox)[0] == 7, "what the peer sent");
    });
    graph.submit("publish", {}, [&](auto& fabric) {
      const Rank peer{1 - fabric.rank().value};
      fabric.address(inbox, peer)[0] = 7;
      fabric.notify(cells[0], peer, 1, NotifyOp::add, release ? Order::release : Order::relaxed);
    });
    EXPECT_TRUE(graph.wait_all());
  };
}

TEST(Tasks, AWaiterGivesItsWorkerBack) {
  for (const std::uint32_t workers : {1U, 2U, 4U}) {
    Options options = with_tasks(4, workers, 2);
    EXPECT_VERDICT(explore(options, exchange(true)), certified);
    EXPECT_FINDS(explore(options, exchange(false)), race);
  }
}

// The same with waits that block: with one worker the publisher never runs, whichever comes first.
Program blocking(std::uint32_t waiters) {
  return [waiters](model::Team& team) {
    const Signals cells = *team.signals(1);
    Graph graph(team);
    for (std::uint32_t i = 0; i < waiters; ++i)
      graph.submit("wait", {}, [&](auto& fabric) { return fabric.wait(cells[0], Compare::ge, 1); });
    graph.submit("publish", {},
                 [&](auto& fabric) { fabric.notify(cells[0], Rank{0}, 1, NotifyOp::add); });
    (void)graph.wait_all();
    team.expect(true);
  };
}

TEST(Tasks, WaitsThatBlockSaturateTheWorkers) {
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    const Report starved = explore(with_tasks(workers + 1, workers), blocking(workers));
    EXPECT_FINDS(starved, deadlock);
    EXPECT_NE(starved.findings.front().what.find("has no worker for \"publish\""),
              std::string::npos)
        << told(starved);
    EXPECT_VERDICT(explore(with_tasks(workers + 1, workers + 1), blocking(workers)), certified);
  }
}

// The first to be submitted publishes: in the order of submission all is well, in another not.
TEST(Tasks, WhoGetsAWorkerFirstIsExplored) {
  const auto body = [](model::Team& team) {
    const Signals cells = *team.signals(1);
    Graph graph(team);
    graph.submit("publish", {},
                 [&](auto& fabric) { fabric.notify(cells[0], Rank{0}, 1, NotifyOp::add); });
    graph.submit("wait", {}, [&](auto& fabric) { return fabric.wait(cells[0], Compare::ge, 1); });
    (void)graph.wait_all();
  };
  const Report report = explore(with_tasks(2, 1), body);
  EXPECT_FINDS(report, deadlock);
  Options again = with_tasks(2, 1);
  again.replay = report.replay;
  EXPECT_FINDS(explore(again, body), deadlock);
}

TEST(Tasks, AfterItsFirstRegistrationAWaiterMayNotUseItsFabric) {
  const auto body = [](bool early) {
    return [early](model::Team& team) {
      const auto data = *team.window<int>({1}, "data");
      const Signals cells = *team.signals(1);
      Graph graph(team);
      graph.submit_waiter("greedy", [&](auto& fabric, Waiter& waiter) {
        if (early) fabric.local(data)[0] = 1;
        waiter.defer_wait(cells[0], Compare::ge, 0);
        if (!early) fabric.local(data)[0] = 1;
      });
      (void)graph.wait_all();
    };
  };
  EXPECT_VERDICT(explore(with_tasks(1, 1), body(true)), certified);
  const Report report = explore(with_tasks(1, 1), body(false));
  EXPECT_FINDS(report, contract);
  EXPECT_NE(told(report).find("task \"greedy\" (task 0) uses its fabric after"), std::string::npos)
      << told(report);
}

TEST(Tasks, AWaiterThatNobodySatisfiesIsADeadlock) {
  const Report report = explore(with_tasks(2, 1), [](model::Team& team) {
    const Signals cells = *team.signals(1);
    Graph graph(team);
    const TaskId never = graph.submit_waiter(
        "never", [&](Waiter& waiter) { waiter.defer_wait(cells[0], Compare::ge, 1); });
    graph.submit("after", {never}, [](auto&) {});
    (void)graph.wait_all();
  });
  EXPECT_FINDS(report, deadlock);
  EXPECT_NE(told(report).find("rank 0 task \"never\" waits"), std::string::npos) << told(report);
}

// One that nobody depends on and nobody waits for goes with its graph.
TEST(Tasks, APendingWaiterMayBeLeftAlone) {
  const Report report = explore(with_tasks(2, 1), [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const Signals cells = *team.signals(1);
    Graph graph(team);
    graph.submit_waiter("left",
                        [&](Waiter& waiter) { waiter.defer_wait(cells[0], Compare::ge, 1); });
    const TaskId other =
        graph.submit("other", {}, [&](auto& fabric) { fabric.local(data)[0] = 1; });
    EXPECT_TRUE(graph.wait(other));
  });
  EXPECT_VERDICT(report, certified);
}

TEST(Tasks, WaitsOfOneWaiterComeOneAfterAnother) {
  const Report report = explore(with_tasks(2, 1, 2), [](model::Team& team) {
    const auto data = *team.window<int>({3}, "data");
    const Signals cells = *team.signals(3);
    Graph graph(team);
    const TaskId all = graph.submit_waiter("all", [&](Waiter& waiter) {
      for (int i = 0; i < 3; ++i) waiter.defer_wait(cells[i], Compare::ge, 1);
    });
    graph.submit("publish", {}, [&](auto& fabric) {
      const Rank peer{1 - fabric.rank().value};
      for (int i = 0; i < 3; ++i) {
        fabric.address(data, peer)[i] = 10 + i;
        fabric.notify(cells[i], peer, 1, NotifyOp::set);
      }
    });
    EXPECT_TRUE(graph.wait(all));
    (void)graph.wait_all();
    (void)team.lane([&](auto& fabric) {
      for (int i = 0; i < 3; ++i) expect(fabric, fabric.local(data)[i] == 10 + i, "what came");
    });
  });
  EXPECT_TRUE(answered(report)) << told(report);
}

TEST(Tasks, ACoroutineGoesOnAfterWhatItAwaited) {
  const Report report = explore(with_tasks(3, 1, 2), [](model::Team& team) {
    const auto inbox = *team.window<int>({1}, "inbox");
    const Signals cells = *team.signals(1);
    Graph graph(team);
    const TaskId publish = graph.submit("publish", {}, [&](auto& fabric) {
      const Rank peer{1 - fabric.rank().value};
      fabric.address(inbox, peer)[0] = 3;
      fabric.notify(cells[0], peer, 1, NotifyOp::add);
    });
    graph.submit("coroutine", {}, [&](model::Fabric& fabric) -> task::Coroutine {
      (void)co_await publish;
      (void)co_await Condition{cells[0], Compare::ge, 1};
      expect(fabric, fabric.local(inbox)[0] == 3, "what the peer sent");
    });
    EXPECT_TRUE(graph.wait_all());
  });
  EXPECT_TRUE(answered(report)) << told(report);
}

TEST(Tasks, AFailureCancelsWhatFollows) {
  const Report report = explore(with_tasks(2, 1), [](model::Team& team) {
    Graph graph(team);
    const TaskId bad = graph.submit("bad", {}, [](auto&) { return WaitStatus::invalid; });
    const TaskId after = graph.submit("after", {bad}, [](auto&) {});
    const Result<void> ended = graph.wait(after);
    team.expect(!ended && ended.error().what.find("\"bad\"") != std::string::npos, "says why");
    EXPECT_FALSE(graph.wait_all());
  });
  EXPECT_VERDICT(report, certified);
}

TEST(Tasks, WhatDoesNotFitIsSaid) {
  const Report crowded = explore(with_tasks(1, 1), two_tasks(true));
  EXPECT_FINDS(crowded, contract);
  EXPECT_NE(told(crowded).find("give the check more by .tasks"), std::string::npos)
      << told(crowded);
  const Report lane = explore(with_tasks(1, 1), [](model::Team& team) {
    Graph graph(team);
    graph.submit("task", {}, [](auto&) {});
    (void)team.lane([](auto&) {});
    (void)graph.wait_all();
  });
  EXPECT_FINDS(lane, contract);
}

}  // namespace
}  // namespace muster::check
