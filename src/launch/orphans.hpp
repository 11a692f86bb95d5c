// The processes that ranks leave behind.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace muster::launcher {

// While it lives, a process whose parent ends becomes a child of this one instead of init's.
// Children that this process had before are none of its business, nor are those that its other
// threads have. Made and used by the thread that forks the ranks.
class Orphanage {
 public:
  Orphanage();
  ~Orphanage();
  Orphanage(const Orphanage&) = delete;
  Orphanage& operator=(const Orphanage&) = delete;

  // Children that are neither ranks nor older than this object, and that have not been waited for.
  [[nodiscard]] std::vector<pid_t> adopted(const std::set<pid_t>& ranks) const;

  // Waits for those that have ended; returns those that still run.
  std::vector<pid_t> reap(const std::set<pid_t>& ranks) const;

 private:
  int was_subreaper_ = 0;
  std::set<pid_t> older_;
};

}  // namespace muster::launcher
