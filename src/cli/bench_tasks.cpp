// `muster bench tasks`: what deferred waits and tasks cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "bench/tasks/tasks.hpp"

namespace muster::cli {
namespace {

int measure(const bench::TaskRequest& request) {
  const Result<bench::TaskFigures> figures = bench::measure_tasks(request);
  if (!figures) {
    fmt::print(stderr, "muster bench tasks: {}\n", to_string(figures.error()));
    return 1;
  }
  fmt::print("pending waiters, of 64 conditions each, while another rank deposits (medians):\n\n");
  fmt::print("{:>8} {:>12} {:>19} {:>18} {:>7} {:>14} {:>8}\n", "waiters", "a deposit",
             "deposit to start", "blocked thread", "ratio", "core, at rest", "threads");
  for (const bench::PendingCost& row : figures->pending) {
    fmt::print("{:>8} {:>9.1f} us {:>16.1f} us {:>15.1f} us {:>7.2f} {:>12.2f} % {:>8}\n",
               row.waiters, row.deposit, row.start, row.woken, row.ratio, 100 * row.share_of_core,
               row.threads);
  }
  const bench::TaskCost& task = figures->task;
  fmt::print(
      "\na graph of {} tasks with two deps each, made, run and destroyed by 2 workers:\n"
      "  muster {:.0f} ns a task, the same by hand in oneTBB's flow graph {:.0f} ns: {:.2f}\n",
      request.tasks, task.muster, task.flow_graph, task.ratio);
  return 0;
}

}  // namespace

void add_bench_tasks(CLI::App& bench, int& status) {
  CLI::App* verb = bench.add_subcommand("tasks", "deferred waits, and tasks beside oneTBB's own");
  const auto request = std::make_shared<bench::TaskRequest>();
  verb->add_option("--repeat", request->repeat, "Deposits for each median")
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
  verb->add_option("--tasks", request->tasks, "Tasks of the graph")
      ->check(CLI::Range(1U, 10'000'000U))
      ->capture_default_str();
  verb->add_option("--rounds", request->rounds, "Rounds, each of both")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb->callback([&status, request] { status = measure(*request); });
}

}  // namespace muster::cli
