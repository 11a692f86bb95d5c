#include "bench/tasks/tasks.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <vector>

#include "bench/measure.hpp"
#include "bench/tasks/pending.hpp"
#include "muster/muster.hpp"
#include "muster/task.hpp"

namespace muster::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int workers = 2;
constexpr std::uint32_t width = 64;  // tasks without deps at the beginning

// Task i of the graph follows these two, further up: the one `width` before it, and another one.
std::uint32_t other_dep(std::uint32_t i) {
  return i - 1 - i * 7 % (width - 1);
}

double nanoseconds_a_task(Clock::time_point begin, std::uint32_t tasks) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / tasks;
}

Result<double> by_muster(Team& team, std::uint32_t tasks) {
  std::atomic<std::uint64_t> sum{0};
  const Clock::time_point begin = Clock::now();
  {
    task::Graph graph(team, {.workers = workers});
    std::vector<task::TaskId> ids;
    ids.reserve(tasks);
    const auto body = [&](auto&) { sum.fetch_add(1, std::memory_order_relaxed); };
    for (std::uint32_t i = 0; i < tasks; ++i) {
      ids.push_back(i < width ? graph.submit("task", {}, body)
                              : graph.submit("task", {ids[i - width], ids[other_dep(i)]}, body));
    }
    if (const auto ended = graph.wait_all(); !ended) return ended.error();
  }
  const double cost = nanoseconds_a_task(begin, tasks);
  if (sum != tasks) return Error{ErrorCode::mismatch, "tasks were lost"};
  return cost;
}

// The same by hand: continue_node is oneTBB's task that waits for others. It starts what has no
// dep as soon as it is there, as above.
double by_flow_graph(std::uint32_t tasks) {
  namespace flow = oneapi::tbb::flow;
  using Step = flow::continue_node<flow::continue_msg>;
  std::atomic<std::uint64_t> sum{0};
  const Clock::time_point begin = Clock::now();
  oneapi::tbb::task_arena arena(workers);  // of which one is the thread that executes this
  arena.execute([&] {
    flow::graph graph;
    std::deque<Step> steps;
    const auto body = [&](const flow::continue_msg&) {
      sum.fetch_add(1, std::memory_order_relaxed);
    };
    for (std::uint32_t i = 0; i < tasks; ++i) {
      Step& step = steps.emplace_back(graph, body);
      if (i < width) continue;
      flow::make_edge(steps[i - width], step);
      if (other_dep(i) != i - width) flow::make_edge(steps[other_dep(i)], step);
    }
    for (std::uint32_t i = 0; i < width && i < tasks; ++i) steps[i].try_put(flow::continue_msg());
    graph.wait_for_all();
  });
  return nanoseconds_a_task(begin, tasks);
}

Result<TaskCost> measure_cost(const TaskRequest& request) {
  std::vector<double> muster;
  std::vector<double> other;
  std::vector<double> ratios;
  Result<void> well;
  const int status = run({.ranks = 1, .as = threads}, [&](Team& team) -> Result<void> {
    for (std::uint32_t round = 0; round <= request.rounds; ++round) {
      const Result<double> mine = by_muster(team, request.tasks);
      if (!mine) return well = mine.error();
      const double theirs = by_flow_graph(request.tasks);
      if (round == 0) continue;  // pages and threads come with the first
      muster.push_back(*mine);
      other.push_back(theirs);
      ratios.push_back(*mine / theirs);
    }
    return {};
  });
  if (!well) return well.error();
  if (status != 0) return Error{ErrorCode::aborted, "the benchmark's rank has failed"};
  return TaskCost{median(muster), median(other), median(ratios)};
}

}  // namespace

Result<TaskFigures> measure_tasks(const TaskRequest& request) {
  TaskFigures figures;
  for (const std::uint32_t waiters : {10U, 100U, 1000U, 10'000U}) {
    const Result<PendingCost> cost = measure_pending(waiters, request.repeat);
    if (!cost) return cost.error();
    figures.pending.push_back(*cost);
  }
  const Result<TaskCost> cost = measure_cost(request);
  if (!cost) return cost.error();
  figures.task = *cost;
  return figures;
}

}  // namespace muster::bench
