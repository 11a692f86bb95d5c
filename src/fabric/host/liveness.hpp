// Which ranks of a job are still alive. Death is seen by process descriptors, so it needs no help
// of the dead.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/host/layout.hpp"

namespace muster::host {

// One rank's eyes on the others. Used by one thread at a time.
class Liveness {
 public:
  explicit Liveness(JobHeader& header);
  ~Liveness();
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  // Has the process of the rank ended without leaving the job properly? False as well for a rank
  // that has not said yet who it is. A rank that runs as a thread of this process is never lost: it
  // fails by abort.
  [[nodiscard]] bool is_lost(std::uint32_t rank);

  // Has the rank ended for good, however it did, so that it comes to no further run? In a watched
  // job a process that ends may have a successor; there only the launcher's word counts.
  [[nodiscard]] bool is_gone(std::uint32_t rank);

 private:
  [[nodiscard]] bool has_ended(std::uint32_t rank, std::int32_t pid);

  JobHeader& header_;
  std::vector<int> descriptors_;  // by job rank; none yet: -1
};

}  // namespace muster::host
