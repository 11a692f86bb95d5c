// Runs the tasks of a host team's graph on oneTBB's workers.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fabric/host/cell_watch.hpp"
#include "muster/task/book.hpp"
#include "task/lane.hpp"
#include "task/trace.hpp"
#include "task/workers.hpp"
#include "team/control.hpp"

namespace muster::task {

// There are as many lanes as workers, and who runs a task takes one of them: a worker, or a thread
// of the watch that has found that the task may start, which saves waking a worker.
class HostEngine final : public EngineOf<host::Fabric> {
 public:
  HostEngine(std::shared_ptr<host::TeamControl> control, std::uint32_t workers,
             const std::string& trace);

  void attach(Book& book) override;
  void detach() override;
  void start(Node& node) override;
  bool watch(PendingNode& node) override;
  bool unwatch(PendingNode& node) override;
  Result<void> block(const Node* node) override;
  void wake() override;
  Result<void> begin() override;
  void end() override;
  std::optional<Error> objection(const Condition& condition) override;
  void seal(void* fabric, const Node& node) override;
  const Node* running() const override;

 private:
  class Wait;

  // What is to be called.
  struct Call {
    Node* node = nullptr;
    std::uint32_t block = 0;
  };

  void notice(const Node* node) const;
  void spawn(Call call);
  void work(Call call);
  void work_on(WorkerLane& lane, Call call);
  [[nodiscard]] Outcome run_call(WorkerLane& lane, Call call);
  [[nodiscard]] WorkerLane* take_lane();
  void give_back(WorkerLane& lane);
  void put_off(Call call);
  [[nodiscard]] Call next_put_off();

  std::shared_ptr<host::TeamControl> control_;
  host::TeamContext& team_;
  WorkerShare share_;
  std::vector<WorkerLane> lanes_;
  std::shared_ptr<host::CellWatch> watch_;
  Book* book_ = nullptr;
  std::mutex waits_lock_;  // what nodes have as engine_data: their Waits
  std::optional<Trace> trace_;
  // What found no lane: see take_lane.
  std::mutex put_off_lock_;
  std::deque<Call> put_off_;
  std::atomic<std::size_t> put_off_count_{0};
  std::mutex block_lock_;
  std::condition_variable unblocked_;
  std::uint32_t blocked_ = 0;
  oneapi::tbb::task_arena arena_;
};

}  // namespace muster::task
