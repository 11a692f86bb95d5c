// Deferred waits: a wait that gives its worker back, and the work that follows it.
//
//   task::Graph graph(team);
//   const TaskId arrived = graph.submit_waiter("wait", [&](task::Waiter& waiter) {
//     waiter.defer_wait(inbox_ready, Compare::ge, epoch);
//   });
//   graph.submit("consume", {arrived}, [&](auto& fabric) { ... });
//   Result<void> ended = graph.wait_all();
//
// With more waits pending than workers, waits that block in tasks deadlock; these complete.
// docs/tasks.md says what orders what, and what a watched cell costs.
#pragma once

#include "muster/task/graph.hpp"
