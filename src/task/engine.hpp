// Runs the tasks of a host team's graph on oneTBB's workers.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/host/cell_watch.hpp"
#include "muster/task/book.hpp"
#include "task/lane.hpp"
#include "task/workers.hpp"
#include "team/control.hpp"

namespace muster::task {

// A worker's slot in the arena is its lane, so that whatever runs has one to itself.
class HostEngine final : public EngineOf<host::Fabric> {
 public:
  HostEngine(std::shared_ptr<host::TeamControl> control, std::uint32_t workers);

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

  void spawn(Node& node, std::uint32_t block);
  void work(Node& node, std::uint32_t block);

  std::shared_ptr<host::TeamControl> control_;
  host::TeamContext& team_;
  WorkerShare share_;
  std::vector<WorkerLane> lanes_;
  std::shared_ptr<host::CellWatch> watch_;
  Book* book_ = nullptr;
  std::atomic<std::uint32_t> passing_on_{0};  // threads that put off what they were given
  std::mutex block_lock_;
  std::condition_variable unblocked_;
  std::uint32_t blocked_ = 0;
  oneapi::tbb::task_arena arena_;
};

}  // namespace muster::task
