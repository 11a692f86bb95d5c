// What deferred waits cost: pending ones, deposits into a rank that is watched, the way from a
// deposit to the start of what depended on it, and tasks themselves beside oneTBB's own graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/result.hpp"

namespace muster::bench {

struct TaskRequest {
  std::uint32_t repeat = 200;     // deposits for each median
  std::uint32_t tasks = 100'000;  // of the graph that is built and run
  std::uint32_t rounds = 5;       // of it, each for muster and for oneTBB
};

// While so many waiters of 64 conditions each were pending; microseconds, medians.
struct PendingCost {
  std::uint32_t waiters = 0;
  double deposit = 0;  // what the notify took
  double start = 0;    // from the notify to the start of what depended on another waiter
  double woken = 0;    // from a wake-up to what a blocked thread does, taken in turns with that
  double ratio = 0;    // of the two, the median of those of neighbouring rounds
  double share_of_core = 0;  // that the process took while nothing came, in a second
  std::uint32_t threads = 0;
};

// Nanoseconds a task, medians of the rounds: building the graph, running and destroying it.
struct TaskCost {
  double muster = 0;
  double flow_graph = 0;
  double ratio = 0;
};

struct TaskFigures {
  std::vector<PendingCost> pending;
  TaskCost task;
};

// Ranks are threads of this process.
[[nodiscard]] Result<TaskFigures> measure_tasks(const TaskRequest& request);

}  // namespace muster::bench
