// A graph of tasks on the lanes of one rank. Included by muster/task.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "muster/result.hpp"
#include "muster/task/book.hpp"
#include "muster/task/coroutine.hpp"
#include "muster/task/id.hpp"
#include "muster/task/node.hpp"
#include "muster/task/waiter.hpp"

namespace muster::task {

// Tasks of one rank, and who follows whom. Made from any team whose make_engine() is declared: of a
// muster::Team the tasks run on oneTBB's workers (link muster::task), of a model's as the checker
// schedules them. Each running task has a lane to itself, with the fabric of that lane; of
// `lanes()` there are as many as workers.
//
// Edges order as the end of a launch and the start of the next (contract 10): what a task did, and
// what it has acquired, is seen by those that depend on it, through waiters too. Nothing else is
// ordered: tasks without a path between them run in any order, or at once, or one after another on
// one worker. So a task that blocks for what a task of the same graph is still to do can keep that
// from ever running; a waiter cannot.
//
// While any task has not ended the team's lanes are the graph's: team.lane and set-up calls are
// refused. The methods may be called by several threads, and all but the waits by tasks. The bodies
// are moved in and destroyed when they have returned; what they refer to must live until then.
//
// Where a task fails (its body throws, or returns something else than ok, or an operation on its
// lane goes wrong, or what it waits for does not come), those that depend on it, directly or not,
// are cancelled: they never run, and their error names the task and its reason.
template <class Team>
class Graph {
 public:
  using EngineType = typename decltype(make_engine(std::declval<Team&>(),
                                                   std::declval<const Options&>()))::element_type;
  using Fabric = typename EngineType::Fabric;

  // Throws Failure where the options are wrong, or where no workers can be had.
  explicit Graph(Team& team, const Options& options = {}) : book_(make_engine(team, options)) {}

  // A task: body(fabric) returns void, WaitStatus or Result<void>, or a task::Coroutine. It runs
  // once all `deps` have ended well. Throws Failure where one of them is no task of this graph, or
  // was cancelled by cancel(); it names both tasks.
  template <class Body>
  TaskId submit(std::string_view name, const Deps& deps, Body&& body) {
    using Plain = std::decay_t<Body>;
    if constexpr (std::is_same_v<std::invoke_result_t<Plain&, Fabric&>, Coroutine>) {
      return book_.submit(
          std::make_unique<CoroutineNode<Fabric, Plain>>(name, std::forward<Body>(body)), deps);
    } else {
      return book_.submit(std::make_unique<BodyNode<Fabric, Plain>>(name, Kind::single, 1,
                                                                    std::forward<Body>(body)),
                          deps);
    }
  }

  // A task of `blocks` calls body(fabric, block), each on a lane of its own, in any order and as
  // many at once as there are workers. It has ended when all have.
  template <class Body>
  TaskId submit_spmd(std::string_view name, std::uint32_t blocks, const Deps& deps, Body&& body) {
    return book_.submit(std::make_unique<BodyNode<Fabric, std::decay_t<Body>, std::uint32_t>>(
                            name, Kind::spmd, blocks, std::forward<Body>(body)),
                        deps);
  }

  // A waiter: body(waiter) or body(fabric, waiter) registers what it waits for and returns. The
  // task ends when all of that has come; until then it has no worker.
  template <class Body>
  TaskId submit_waiter(std::string_view name, const Deps& deps, Body&& body) {
    return book_.submit(std::make_unique<WaiterNode<Fabric, std::decay_t<Body>>>(
                            name, book_.engine(), std::forward<Body>(body)),
                        deps);
  }
  template <class Body>
  TaskId submit_waiter(std::string_view name, Body&& body) {
    return submit_waiter(name, {}, std::forward<Body>(body));
  }

  // Blocks until the task has ended; says how. Rethrows what its body threw. An error where the
  // calling thread runs a task of this graph: let one depend on the other, or co_await.
  Result<void> wait(TaskId id) { return book_.wait(id); }
  // Until all tasks have, waiters too. The first failure since the last such call, if there was
  // one, or its exception; cancel() is none.
  Result<void> wait_all() { return book_.wait_all(); }

  // The task will not run, and a pending waiter waits no more; those that depend on it are
  // cancelled with it. False where that comes too late: it runs, or has ended.
  Result<bool> cancel(TaskId id) { return book_.cancel(id); }

  // How many tasks have not ended.
  [[nodiscard]] std::uint64_t unfinished() const { return book_.unfinished(); }

 private:
  Book book_;
};

}  // namespace muster::task
