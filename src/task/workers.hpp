// How many threads oneTBB may have in this process, for all graphs together.
#pragma once

#include <cstdint>

#include "muster/result.hpp"

namespace muster::task {

// So many of its workers may run at once on behalf of one graph, for as long as this lives; beside
// those that other graphs have. oneTBB by itself has no more than there are cores.
class WorkerShare {
 public:
  // Throws Failure in a process that was forked from one that had workers: oneTBB has none here.
  explicit WorkerShare(std::uint32_t workers);
  ~WorkerShare();
  WorkerShare(const WorkerShare&) = delete;
  WorkerShare& operator=(const WorkerShare&) = delete;

 private:
  std::uint32_t workers_;
};

}  // namespace muster::task
