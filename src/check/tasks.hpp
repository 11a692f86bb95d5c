// Tasks of graphs (muster/task.hpp) in the model: threads of their own, which start once what they
// depend on has ended and a worker is free.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/clock.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

class Execution;
struct Thread;

// What a thread knows at some moment, for one that starts or goes on later.
struct Knowledge {
  Clock hb, cause, ended, issued, pending;
  Clock back;  // noncoherent: the cached writes that are known to be written back
  std::uint64_t depth = 0;

  void join(const Knowledge& other);
  void join(const Thread& thread);
  void tell(Thread& thread) const;
};

// Where a task runs.
struct TaskSeat {
  Lane lane;
  std::uint32_t workers = 1;
  std::string name;
};

// A graph of one rank, as the loop sees it.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // Every thread is blocked or done. Starts what may start now; false where nothing may.
  virtual bool start_some() = 0;
  // Which tasks lack a worker, for a deadlock; empty: none.
  [[nodiscard]] virtual std::string starved() const = 0;
  // Has it tasks that have not ended?
  [[nodiscard]] virtual bool busy(std::uint32_t rank) const = 0;
};

// All graphs of an execution.
//
// Where more tasks are ready than workers are free, which of them goes first matters only where one
// may keep its worker: those that have waited within a task in any execution. The search tries each
// of these, and besides them the first of the others, which soon gives its worker back. So a graph
// whose tasks never wait has one way, whatever the number of workers.
class Tasks {
 public:
  void reset() {
    runners_.clear();
    chose_ = outnumbered_ = false;
  }
  void add(TaskRunner& runner) { runners_.push_back(&runner); }
  void remove(TaskRunner& runner) { std::erase(runners_, &runner); }
  bool start_some();
  [[nodiscard]] std::string starved() const;
  [[nodiscard]] bool busy(std::uint32_t rank) const;

  // Which tasks wait: known over all executions, only grows, and counts from settle() on.
  void waits(std::uint32_t thread) {
    if (!waiting_.contains(thread)) new_.insert(thread);
  }
  [[nodiscard]] bool may_wait(std::uint32_t thread) const { return waiting_.contains(thread); }
  [[nodiscard]] bool learned() const { return !new_.empty(); }
  void settle() {
    waiting_.merge(new_);
    new_.clear();
  }

  // There was more than one way to go on.
  void chose() { chose_ = true; }
  [[nodiscard]] bool has_chosen() const { return chose_; }
  // A graph has more tasks than workers. Where some of them wait, one execution does not stand for
  // those in which others hold the workers.
  void outnumber() { outnumbered_ = true; }
  [[nodiscard]] bool may_lack_workers() const {
    return outnumbered_ && !(waiting_.empty() && new_.empty());
  }

 private:
  std::vector<TaskRunner*> runners_;
  std::set<std::uint32_t> waiting_;  // threads
  std::set<std::uint32_t> new_;
  bool chose_ = false;
  bool outnumbered_ = false;
};

}  // namespace muster::check::engine
