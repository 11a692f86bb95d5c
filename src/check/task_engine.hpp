// Runs the tasks of a rank's graph on the model.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "check/execution.hpp"
#include "check/tasks.hpp"
#include "muster/task/book.hpp"

namespace muster::check::engine {

class TaskEngine final : public task::EngineOf<model::Fabric>, public TaskRunner {
 public:
  TaskEngine(Thread& setup, std::uint32_t workers);

  // ---- for the book
  void attach(task::Book& book) override;
  void detach() override;
  void submitted(task::Node& node) override;
  void start(task::Node& node) override;
  bool watch(task::PendingNode& node) override;
  bool unwatch(task::PendingNode& node) override;
  Result<void> block(const task::Node* node) override;
  void wake() override;
  void joined(const task::Node* node) override;
  std::optional<Error> objection(const Condition& condition) override;
  void seal(void* fabric, const task::Node& node) override;
  [[nodiscard]] const task::Node* running() const override;
  [[nodiscard]] bool is_given_up() const override;

  // ---- for the loop
  bool start_some() override;
  [[nodiscard]] std::string starved() const override;
  [[nodiscard]] bool busy(std::uint32_t rank) const override;

 private:
  struct Task {
    task::Node* node = nullptr;
    std::uint32_t first = 0;  // of its blocks' threads, among those for tasks
    Knowledge submitted;
    Knowledge ended;           // what its blocks, and what it waited for, have brought
    Thread* thread = nullptr;  // that has run it last
    bool watched = false;      // its thread waits for its conditions, without a worker
    bool in_body = false;
  };
  struct Ready {
    Task* task;
    std::uint32_t block;
    [[nodiscard]] std::uint32_t number() const { return task->first + block; }
  };

  [[nodiscard]] static Task& of(const task::Node& node) {
    return *static_cast<Task*>(node.engine_data);
  }
  void launch(std::size_t at);
  void run(Thread& self, Task& task, std::uint32_t block);
  void await(Thread& self, Task& task);
  void collect(Knowledge& into, const Task& task) const;
  void leave();

  Thread& setup_;
  Execution& run_;
  task::Book* book_ = nullptr;
  std::deque<Task> tasks_;
  std::vector<Ready> ready_;
  std::vector<bool> workers_;  // taken
  std::uint32_t blocks_ = 0;
  std::uint32_t running_ = 0;  // fibers
  bool blocked_ = false;
  bool leaving_ = false;
};

}  // namespace muster::check::engine
