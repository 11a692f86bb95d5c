// Tasks that suspend: on a task, on a signal, and what becomes of them.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "task/run.hpp"

namespace muster::task::testing {
namespace {

TEST(Coroutine, awaits_tasks_and_signals) {
  on_threads({.ranks = 2}, [](Team& team) {
    const Signals ready = *team.signals(1);
    const auto inbox = *team.window<int>({1});
    Graph graph(team, {.workers = 1});
    std::vector<int> seen;
    const TaskId made = graph.submit("made", {}, [&](auto&) { seen.push_back(1); });
    const TaskId whole = graph.submit("whole", {}, [&](auto& fabric) -> Coroutine {
      EXPECT_TRUE(co_await made);
      seen.push_back(2);
      const Rank peer = right_of(fabric);
      for (std::uint32_t round = 1; round <= 100; ++round) {
        fabric.address(inbox, peer)[0] = static_cast<int>(round + fabric.rank().value);
        fabric.notify(ready[0], peer, 2 * round - 1, NotifyOp::set);
        EXPECT_TRUE(co_await (Condition{ready[0], Compare::ge, 2 * round - 1}));
        EXPECT_EQ(fabric.local(inbox)[0], static_cast<int>(round + 1 - fabric.rank().value));
        fabric.notify(ready[0], peer, 2 * round, NotifyOp::set);  // it has been read
        EXPECT_TRUE(co_await (Condition{ready[0], Compare::ge, 2 * round}));
      }
      seen.push_back(3);
    });
    const TaskId behind = graph.submit("behind", {whole}, [&](auto&) { seen.push_back(4); });
    EXPECT_TRUE(graph.wait(behind));
    EXPECT_EQ(seen, (std::vector{1, 2, 3, 4}));
  });
}

// One worker, and a thousand that are suspended at once.
TEST(Coroutine, many_keep_no_worker) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 1});
    std::atomic<int> ended{0};
    for (std::uint32_t i = 0; i < 1000; ++i) {
      graph.submit("suspends", {}, [&, i](auto& fabric) -> Coroutine {
        EXPECT_TRUE(co_await (Condition{cell[0], Compare::ge, i}));
        fabric.notify(cell[0], fabric.rank(), 1, NotifyOp::add);
        ++ended;
      });
    }
    EXPECT_TRUE(graph.wait_all());
    EXPECT_EQ(ended, 1000);
  });
}

TEST(Coroutine, is_told_how_the_awaited_has_ended) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 2});
    const TaskId bad = graph.submit("bad", {}, [](auto&) { throw std::runtime_error("why not"); });
    const TaskId told = graph.submit("told", {}, [&](auto&) -> Coroutine {
      const Result<void> ended = co_await bad;
      EXPECT_FALSE(ended);
      expect_says(ended.error(), ErrorCode::aborted, "\"bad\"", "why not");
    });
    EXPECT_TRUE(graph.wait(told));
    const TaskId fails = graph.submit("fails", {}, [&](auto&) -> Coroutine {
      const Result<void> ended = co_await bad;
      ended.value();
      ADD_FAILURE() << "it has gone on";
    });
    EXPECT_THROW((void)graph.wait(fails), Failure);
    const TaskId odd = graph.submit("odd", {}, [&](auto&) -> Coroutine {
      const Result<void> none = co_await TaskId{77, 3};
      expect_says(none.error(), ErrorCode::invalid_argument, "\"odd\"", "there is no task 3");
      const Result<void> nowhere = co_await (Condition{cell[1], Compare::ge, 1});
      expect_says(nowhere.error(), ErrorCode::invalid_argument, "\"odd\"", "belongs to no rows");
    });
    EXPECT_TRUE(graph.wait(odd));
    EXPECT_THROW((void)graph.wait_all(), std::runtime_error);
  });
}

TEST(Coroutine, a_circle_is_an_error_that_names_it) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 2});
    std::atomic<int> told{0};
    const auto expect_circle = [&](const Result<void>& ended, const char* other) {
      ASSERT_FALSE(ended);
      expect_says(ended.error(), ErrorCode::invalid_argument, "\"inner\" (task 0)", other,
                  "waits for it");
      ++told;
    };
    std::atomic<std::uint32_t> number{0};  // of the graph, once it is known
    const TaskId inner = graph.submit("inner", {}, [&](auto&) -> Coroutine {
      while (number == 0) std::this_thread::yield();
      const TaskId self{number, 0};
      expect_circle(co_await self, "\"inner\" (task 0)");
      const TaskId after = graph.submit("after", {self}, [](auto&) {});
      const TaskId behind = graph.submit("behind", {after}, [](auto&) {});
      expect_circle(co_await behind, "\"behind\" (task 2)");
    });
    number = inner.graph;
    EXPECT_TRUE(graph.wait_all());
    EXPECT_EQ(told, 2);
  });
}

TEST(Coroutine, is_destroyed_where_it_is_suspended_and_cancelled) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    const auto alive = std::make_shared<int>();
    {
      Graph graph(team, {.workers = 1});
      const TaskId suspends = graph.submit("suspends", {}, [&, alive](auto&) -> Coroutine {
        const auto kept = alive;
        (void)co_await Condition{cell[0], Compare::ge, 1};
        ADD_FAILURE() << "it has gone on";
      });
      while (!*graph.cancel(suspends)) std::this_thread::yield();
      expect_says(graph.wait(suspends).error(), ErrorCode::aborted, "was cancelled");
      EXPECT_EQ(alive.use_count(), 1);
      const TaskId left = graph.submit("left", {}, [&, alive](auto&) -> Coroutine {
        (void)co_await Condition{cell[0], Compare::ge, 1};
        ADD_FAILURE() << "it has gone on";
      });
      graph.submit("awaits", {}, [&, alive, left](auto&) -> Coroutine { (void)co_await left; });
    }
    EXPECT_EQ(alive.use_count(), 1);
  });
}

}  // namespace
}  // namespace muster::task::testing
