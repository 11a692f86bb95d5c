// What names a task, and what a graph is made with. Included by muster/task.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "muster/types.hpp"

namespace muster::task {

// A task of one graph, for as long as the graph lives. The only kind of dependency.
struct TaskId {
  std::uint32_t graph = 0;  // numbered from 1 on in each process; 0: no task
  std::uint32_t index = 0;  // in the order of submission
  friend constexpr bool operator==(TaskId, TaskId) = default;
};

// The tasks that one waits for, looked at by the call that is given them and not afterwards.
class Deps {
 public:
  Deps(std::initializer_list<TaskId> ids) : Deps(std::data(ids), ids.size()) {}
  Deps(const std::vector<TaskId>& ids) : Deps(ids.data(), ids.size()) {}
  Deps(const TaskId* first, std::size_t count) : first_(first), count_(count) {}

  [[nodiscard]] const TaskId* begin() const { return first_; }
  [[nodiscard]] const TaskId* end() const { return first_ + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  const TaskId* first_;
  std::size_t count_;
};

struct Options {
  // How many tasks of this rank run at once, each on a lane of its own: from 1 to the team's
  // max_lanes(). 0: as many as the rank has cores, within that.
  std::uint32_t workers = 0;
  // A file for a trace in Chrome's format, which Perfetto opens: a row for each lane of each rank,
  // the tasks on it, the waits that were pending, and arrows from a notify to the task that it
  // released. Written when the graph ends; graphs of one job, on whichever rank, may share the
  // file. Empty: none.
  std::string trace = {};
};

}  // namespace muster::task
