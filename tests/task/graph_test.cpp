// What a graph promises on a host: order, lanes, blocks, waiters, threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "task/run.hpp"

namespace muster::task::testing {
namespace {

TEST(Graph, runs_tasks_behind_their_deps) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 3});
    std::vector<int> order;  // no lock: the deps are what orders them
    const TaskId first = graph.submit("first", {}, [&](auto&) { order.push_back(1); });
    const TaskId second = graph.submit("second", {first}, [&](auto&) { order.push_back(2); });
    const TaskId third = graph.submit("third", {first, second}, [&](auto&) { order.push_back(3); });
    EXPECT_TRUE(graph.wait(third));
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_EQ(graph.unfinished(), 0U);
  });
}

TEST(Graph, takes_what_bodies_return) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 2});
    const TaskId well = graph.submit("well", {}, [](auto&) { return WaitStatus::ok; });
    const TaskId badly = graph.submit("badly", {}, [](auto&) { return WaitStatus::expired; });
    const TaskId worded = graph.submit("worded", {}, [](auto&) -> Result<void> {
      return Error{ErrorCode::mismatch, "the words of the body"};
    });
    EXPECT_TRUE(graph.wait(well));
    expect_says(graph.wait(badly).error(), ErrorCode::expired);
    expect_says(graph.wait(worded).error(), ErrorCode::mismatch, "the words of the body");
  });
}

TEST(Graph, a_running_task_has_a_lane_to_itself) {
  on_threads({}, [](Team& team) {
    constexpr std::uint32_t workers = 4;
    Graph graph(team, {.workers = workers});
    std::array<std::atomic<int>, workers> on{};
    for (int task = 0; task < 400; ++task) {
      graph.submit("task", {}, [&](auto& fabric) {
        ASSERT_LT(fabric.lane().value, workers);
        EXPECT_EQ(fabric.lanes(), workers);
        EXPECT_EQ(on[fabric.lane().value].fetch_add(1), 0);
        std::this_thread::yield();
        on[fabric.lane().value].fetch_sub(1);
      });
    }
    EXPECT_TRUE(graph.wait_all());
  });
}

TEST(Graph, calls_each_block_once) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 3});
    std::vector<int> calls(100);
    const TaskId blocks =
        graph.submit_spmd("blocks", 100, {}, [&](auto&, std::uint32_t block) { ++calls[block]; });
    int seen = 0;
    const TaskId sum = graph.submit("sum", {blocks}, [&](auto&) {
      for (const int count : calls) seen += count;
    });
    EXPECT_TRUE(graph.wait(sum));
    EXPECT_EQ(seen, 100);
    EXPECT_EQ(*std::max_element(calls.begin(), calls.end()), 1);
  });
}

TEST(Graph, tasks_submit_tasks) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 2});
    std::atomic<int> leaves{0};
    std::function<void(int)> grow = [&](int depth) {
      graph.submit("node", {}, [&, depth](auto&) {
        if (depth == 0) {
          ++leaves;
        } else {
          grow(depth - 1);
          grow(depth - 1);
        }
      });
    };
    grow(8);
    EXPECT_TRUE(graph.wait_all());
    EXPECT_EQ(leaves, 256);
  });
}

// ---- waiters ------------------------------------------------------------------------------------

// The promise: as many waiters as anybody likes, before the one that publishes, on one worker.
TEST(Waiter, more_waiters_than_workers_complete) {
  on_threads({.ranks = 2}, [](Team& team) {
    const Signals ready = *team.signals(1);
    const auto inbox = *team.window<int>({1});
    constexpr int epochs = 3;
    constexpr int waiters = 8;
    Graph graph(team, {.workers = 1});
    for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
      std::atomic<int> right{0};
      for (int i = 0; i < waiters; ++i) {
        const TaskId arrived = graph.submit_waiter("wait", [&, epoch](Waiter& waiter) {
          waiter.defer_wait(ready[0], Compare::ge, epoch);
        });
        graph.submit("consume", {arrived}, [&, epoch](auto& fabric) {
          const int expected = static_cast<int>(10 * epoch + 1 - fabric.rank().value);
          if (fabric.local(inbox)[0] == expected) ++right;
        });
      }
      graph.submit("publish", {}, [&, epoch](auto& fabric) {
        const Rank peer = right_of(fabric);
        fabric.address(inbox, peer)[0] = static_cast<int>(10 * epoch + fabric.rank().value);
        fabric.notify(ready[0], peer, epoch, NotifyOp::set);
      });
      EXPECT_TRUE(graph.wait_all());
      EXPECT_EQ(right, waiters);
      EXPECT_TRUE(team.sync());  // the inbox is free
    }
  });
}

TEST(Waiter, what_has_come_already_holds_at_once) {
  on_threads({}, [](Team& team) {
    const Signals cells = *team.signals(2);
    ASSERT_TRUE(
        team.lane([&](auto& fabric) { fabric.notify(cells[0], fabric.rank(), 7, NotifyOp::set); }));
    Graph graph(team, {.workers = 1});
    const TaskId waited = graph.submit_waiter("wait", [&](Waiter& waiter) {
      for (std::uint32_t value = 1; value <= 7; ++value)
        waiter.defer_wait(cells[0], Compare::ge, value);
      waiter.defer_wait(cells[0], Compare::eq, 7);
      waiter.defer_wait(cells[1], Compare::lt, 1);
    });
    EXPECT_TRUE(graph.wait(waited));
  });
}

TEST(Waiter, waits_for_all_that_it_has_registered) {
  on_threads({}, [](Team& team) {
    const Signals cells = *team.signals(64);
    Graph graph(team, {.workers = 2});
    std::atomic<std::uint32_t> given{0};
    const TaskId waited = graph.submit_waiter("wait", [&](auto& fabric, Waiter& waiter) {
      EXPECT_EQ(fabric.size(), 1U);
      for (std::uint32_t cell = 0; cell < 64; ++cell)
        waiter.defer_wait(cells[cell], Compare::eq, cell + 1);
    });
    const TaskId behind = graph.submit("behind", {waited}, [&](auto&) { EXPECT_EQ(given, 64U); });
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t cell = i * 37 % 64;  // in another order
      graph.submit("give", {}, [&, cell](auto& fabric) {
        ++given;
        fabric.notify(cells[cell], fabric.rank(), cell + 1, NotifyOp::add);
      });
    }
    EXPECT_TRUE(graph.wait(behind));
  });
}

TEST(Waiter, every_comparison) {
  struct Case {
    Compare compare;
    std::uint32_t value;
    std::uint32_t deposit;  // from 5 on
  };
  for (const Case& one : {Case{Compare::eq, 9, 9}, Case{Compare::ne, 5, 6}, Case{Compare::ge, 8, 9},
                          Case{Compare::gt, 5, 6}, Case{Compare::le, 4, 4}, Case{Compare::lt, 5, 1},
                          Case{Compare::lt, 0, ~0U}}) {
    on_threads({}, [&](Team& team) {
      const Signals cell = *team.signals(1);
      ASSERT_TRUE(team.lane(
          [&](auto& fabric) { fabric.notify(cell[0], fabric.rank(), 5, NotifyOp::set); }));
      Graph graph(team, {.workers = 1});
      std::atomic<bool> given{false};
      const TaskId waited = graph.submit_waiter(
          "wait", [&](Waiter& waiter) { waiter.defer_wait(cell[0], one.compare, one.value); });
      const TaskId behind = graph.submit("behind", {waited}, [&](auto&) { EXPECT_TRUE(given); });
      graph.submit("give", {}, [&](auto& fabric) {
        given = true;
        fabric.notify(cell[0], fabric.rank(), one.deposit, NotifyOp::set);
      });
      EXPECT_TRUE(graph.wait(behind));
    });
  }
}

}  // namespace
}  // namespace muster::task::testing
