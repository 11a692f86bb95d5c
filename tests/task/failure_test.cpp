// What becomes of tasks when one does not end well, and what is refused.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "task/run.hpp"

namespace muster::task::testing {
namespace {

constexpr auto never = [](auto&) { ADD_FAILURE() << "it has run"; };

TEST(TaskFailure, an_exception_cancels_what_depends_on_it_and_comes_out_of_wait) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 2});
    const TaskId bad = graph.submit("bad", {}, [](auto&) {
      std::this_thread::sleep_for(5ms);  // the others are submitted meanwhile, or not
      throw std::domain_error("no such domain");
    });
    const TaskId next = graph.submit("next", {bad}, never);
    const TaskId last = graph.submit_spmd(
        "last", 3, {next}, [](auto&, std::uint32_t) { ADD_FAILURE() << "it has run"; });
    const TaskId other = graph.submit("other", {}, [](auto&) {});
    expect_says(graph.wait(last).error(), ErrorCode::aborted, "\"last\" (task 2)",
                "\"next\" (task 1)", "\"bad\" (task 0) failed", "no such domain");
    EXPECT_THROW((void)graph.wait(bad), std::domain_error);
    EXPECT_TRUE(graph.wait(other));
    EXPECT_THROW((void)graph.wait_all(), std::domain_error);
    EXPECT_TRUE(graph.wait_all());  // it was told
    const TaskId late = graph.submit("late", {other, last}, never);
    expect_says(graph.wait(late).error(), ErrorCode::aborted, "\"late\"", "\"bad\"");
  });
}

TEST(TaskFailure, a_deadline_fails_the_waiter_and_cancels_what_depends_on_it) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 1});
    const TaskId waits = graph.submit_waiter("waits", [&](Waiter& waiter) {
      waiter.defer_wait(cell[0], Compare::ge, 5);
      waiter.deadline(30ms);
    });
    const TaskId behind = graph.submit("behind", {waits}, never);
    expect_says(graph.wait(behind).error(), ErrorCode::expired, "\"behind\" (task 1) was cancelled",
                "\"waits\" (task 0) failed", "waited 30 ms for a deposit, in vain");
    const Result<void> ended = graph.wait(waits);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cell, cell[0].cell);
    EXPECT_EQ(ended.error().seen, 0U);
    EXPECT_EQ(ended.error().expected, 5U);
    // The team goes on: this deadline was the program's own.
    EXPECT_TRUE(graph.wait(graph.submit("next", {}, [](auto&) {})));
  });
}

TEST(TaskFailure, a_wait_beyond_the_teams_time_fails_the_team) {
  on_threads(
      {.timeout = 50ms},
      [](Team& team) {
        const Rows rows = *team.rows();
        Graph graph(team, {.workers = 1});
        const TaskId waits = graph.submit_waiter("waits", [&](Waiter& waiter) {
          waiter.defer_wait(rows.from(Lane{0}, Rank{0}), Compare::ge, 1);
        });
        expect_says(graph.wait(waits).error(), ErrorCode::expired,
                    "waited 50 ms for rank 0, in vain");
        expect_says(graph.wait(graph.submit("next", {}, never)).error(), ErrorCode::aborted);
      },
      1);
}

TEST(TaskFailure, an_abort_ends_waiters_and_what_has_not_started) {
  on_threads(
      {.ranks = 2},
      [](Team& team) {
        const Signals cell = *team.signals(1);
        Graph graph(team, {.workers = 1});
        const TaskId waits = graph.submit_waiter(
            "waits", [&](Waiter& waiter) { waiter.defer_wait(cell[0], Compare::ge, 1); });
        const TaskId behind = graph.submit("behind", {waits}, never);
        if (team.rank() == Rank{1}) team.abort("enough of this");
        expect_says(graph.wait(behind).error(), ErrorCode::aborted, "\"waits\" (task 0) failed",
                    "enough of this");
        expect_says(graph.wait(graph.submit("next", {}, never)).error(), ErrorCode::aborted,
                    "enough of this");
      },
      1);
}

TEST(TaskFailure, an_operation_that_goes_wrong_fails_a_body_that_says_nothing) {
  on_threads(
      {},
      [](Team& team) {
        const Signals cell = *team.signals(1);
        Graph graph(team, {.workers = 1});
        const TaskId bad = graph.submit(
            "bad", {}, [&](auto& fabric) { fabric.notify(cell[0], Rank{7}, 1, NotifyOp::set); });
        expect_says(graph.wait(bad).error(), ErrorCode::invalid_argument, "peer is rank 7");
      },
      1);
}

// ---- cancel -------------------------------------------------------------------------------------

TEST(Cancel, a_pending_waiter_and_what_depends_on_it_never_run) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 1});
    const TaskId waits = graph.submit_waiter(
        "waits", [&](Waiter& waiter) { waiter.defer_wait(cell[0], Compare::ge, 1); });
    const TaskId behind = graph.submit("behind", {waits}, never);
    EXPECT_TRUE(graph.wait(graph.submit("it is pending by now", {}, [](auto&) {})));
    while (!*graph.cancel(waits)) std::this_thread::yield();
    EXPECT_FALSE(*graph.cancel(waits));
    expect_says(graph.wait(waits).error(), ErrorCode::aborted, "\"waits\" (task 0) was cancelled");
    expect_says(graph.wait(behind).error(), ErrorCode::aborted, "\"behind\"", "\"waits\"");
    EXPECT_TRUE(graph.wait_all());  // nothing has failed
    expect_throws([&] { graph.submit("late", {waits}, never); }, ErrorCode::invalid_argument,
                  "\"late\"", "\"waits\" (task 0), was cancelled");
    expect_throws([&] { graph.submit("later", {behind}, never); }, ErrorCode::invalid_argument,
                  "\"later\"", "\"behind\" (task 1), was cancelled");
  });
}

TEST(Cancel, what_runs_or_has_ended_is_left) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 1});
    std::atomic<bool> runs{false};
    std::atomic<bool> ends{false};
    const TaskId task = graph.submit("task", {}, [&](auto&) {
      runs = true;
      while (!ends) std::this_thread::yield();
    });
    while (!runs) std::this_thread::yield();
    EXPECT_FALSE(*graph.cancel(task));
    ends = true;
    EXPECT_TRUE(graph.wait(task));
    EXPECT_FALSE(*graph.cancel(task));
  });
}

TEST(Cancel, the_end_of_a_graph_cancels_what_is_pending) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    for (int i = 0; i < 10; ++i) {
      Graph graph(team, {.workers = 2});
      for (int task = 0; task < 4; ++task) {
        graph.submit_waiter("waits",
                            [&](Waiter& waiter) { waiter.defer_wait(cell[0], Compare::ge, 1); });
      }
    }
    EXPECT_TRUE(team.sync());
  });
}

// ---- what is refused ----------------------------------------------------------------------------

TEST(TaskRefusal, ids_that_are_none_of_this_graph) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 1});
    const TaskId own = graph.submit("own", {}, [](auto&) {});
    EXPECT_TRUE(graph.wait_all());
    Graph other(team, {.workers = 1});
    expect_throws([&] { other.submit("task", {own}, never); }, ErrorCode::invalid_argument,
                  "\"task\"", "task 0 of graph", "another graph's");
    expect_throws([&] { graph.submit("task", {TaskId{}}, never); }, ErrorCode::invalid_argument,
                  "\"task\"", "there is no task 0");
    expect_throws(
        [&] {
          graph.submit("task", {TaskId{own.graph, 5}}, never);
        },
        ErrorCode::invalid_argument, "\"task\"", "there is no task 5");
    expect_throws(
        [&] {
          (void)graph.wait(TaskId{own.graph, 5});
        },
        ErrorCode::invalid_argument, "wait: there is no task 5");
    expect_throws(
        [&] {
          (void)graph.cancel(TaskId{own.graph, 5});
        },
        ErrorCode::invalid_argument, "cancel: there is no task 5");
    EXPECT_EQ(graph.unfinished(), 0U);
    expect_throws([&] { graph.submit_spmd("none", 0, {}, [](auto&, std::uint32_t) {}); },
                  ErrorCode::invalid_argument, "\"none\"", "blocks is 0");
  });
}

TEST(TaskRefusal, too_many_workers) {
  on_threads({.lanes = 2}, [](Team& team) {
    expect_throws([&] { Graph graph(team, {.workers = 3}); }, ErrorCode::invalid_argument,
                  "workers is 3", "from 1 to 2");
  });
}

// oneTBB's threads do not come along: without this the tasks would never run.
TEST(TaskRefusal, a_process_that_was_forked_from_one_that_has_run_tasks) {
  on_threads({}, [](Team& team) {
    Graph graph(team);
    EXPECT_TRUE(graph.wait(graph.submit("task", {}, [](auto&) {})));
  });
  const int status = run({.ranks = 1}, [](Team& team) -> int {  // in a process of its own
    try {
      Graph graph(team);
    } catch (const Failure& failure) {
      return failure.error().code == ErrorCode::unavailable ? 7 : 8;
    }
    return 9;
  });
  EXPECT_EQ(status, 7);
}

TEST(TaskRefusal, a_wait_in_a_task) {
  on_threads({}, [](Team& team) {
    Graph graph(team, {.workers = 1});
    const TaskId first = graph.submit("first", {}, [&](auto&) {
      const TaskId inner = graph.submit("inner", {}, [](auto&) {});
      expect_says(graph.wait(inner).error(), ErrorCode::invalid_argument, "\"first\" (task 0)",
                  "\"inner\" (task 1)", "keep its worker");
      expect_says(graph.wait_all().error(), ErrorCode::invalid_argument, "\"first\"");
    });
    EXPECT_TRUE(graph.wait(first));
  });
}

TEST(TaskRefusal, waits_that_cannot_be_told) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 1});
    const auto waits_for = [&](Signal signal, std::uint64_t value) {
      const TaskId waits = graph.submit_waiter(
          "odd", [=](Waiter& waiter) { waiter.defer_wait(signal, Compare::ge, value); });
      return graph.wait(waits);
    };
    expect_says(waits_for(cell[0], 1ULL << 32U).error(), ErrorCode::invalid_argument, "\"odd\"",
                "4294967296 does not fit");
    expect_says(waits_for(cell[0], static_cast<std::uint64_t>(-1)).error(),
                ErrorCode::invalid_argument, "does not fit");
    EXPECT_TRUE(waits_for(cell[0], static_cast<std::uint32_t>(-1)));  // before 0, which it is at
    expect_says(waits_for(cell[1], 1).error(), ErrorCode::invalid_argument, "\"odd\"",
                "belongs to no rows or signals of this team");
    expect_says(waits_for(Signal{3, 0}, 1).error(), ErrorCode::invalid_argument, "of segment 3");
  });
}

TEST(TaskRefusal, a_waiter_that_goes_on_after_it_has_registered) {
  const auto refused = [](const char* what, auto&& misuse) {
    on_threads(
        {},
        [&](Team& team) {
          const Signals cell = *team.signals(1);
          const auto window = *team.window<int>({4});
          Graph graph(team, {.workers = 1});
          const TaskId waits = graph.submit_waiter("greedy", [&](auto& fabric, Waiter& waiter) {
            fabric.local(window)[0] = 1;
            fabric.notify(cell[0], fabric.rank(), 1, NotifyOp::set);
            EXPECT_EQ(fabric.wait(cell[0], Compare::eq, 1), WaitStatus::ok);
            waiter.defer_wait(cell[0], Compare::ge, 1);
            misuse(fabric, cell[0], window);
            waiter.defer_wait(cell[0], Compare::ge, 1);
          });
          SCOPED_TRACE(what);
          expect_says(graph.wait(waits).error(), ErrorCode::invalid_argument, "\"greedy\" (task 0)",
                      "after its first defer_wait");
        },
        1);
  };
  refused("wait", [](auto& fabric, Signal cell, auto) {
    EXPECT_NE(fabric.wait(cell, Compare::eq, 1), WaitStatus::ok);
  });
  refused("notify", [](auto& fabric, Signal cell, auto) {
    fabric.notify(cell, fabric.rank(), 1, NotifyOp::set);
  });
  refused("read", [](auto& fabric, Signal, auto window) { (void)fabric.local(window)[0]; });
  refused("put", [](auto& fabric, Signal, auto window) {
    fabric.put(window, fabric.rank(), 0, window, 2, 1);
  });
}

TEST(TaskRefusal, lanes_and_set_up_while_tasks_are_pending) {
  on_threads({}, [](Team& team) {
    const Signals cell = *team.signals(1);
    Graph graph(team, {.workers = 1});
    const TaskId waits = graph.submit_waiter(
        "waits", [&](Waiter& waiter) { waiter.defer_wait(cell[0], Compare::ge, 1); });
    expect_says(team.lane([](auto&) {}).error(), ErrorCode::invalid_argument, "running already");
    expect_says(team.signals(1).error(), ErrorCode::invalid_argument,
                "lanes of this team are running");
    graph.submit("give", {},
                 [&](auto& fabric) { fabric.notify(cell[0], fabric.rank(), 1, NotifyOp::set); });
    EXPECT_TRUE(graph.wait(waits));
    EXPECT_TRUE(graph.wait_all());
    EXPECT_TRUE(team.lane([](auto&) {}));
    EXPECT_TRUE(team.signals(1));
  });
}

}  // namespace
}  // namespace muster::task::testing
