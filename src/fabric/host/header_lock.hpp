// The lock over what all ranks of a job share: its symmetric addresses, its numbers of teams and
// segments.
#pragma once

#include <chrono>
#include <optional>

#include "fabric/host/layout.hpp"
#include "muster/result.hpp"

namespace muster::host {

// Held by a rank, by its number, so that whoever waits sees whether the holder still lives: one
// that has died is no obstacle, for what the lock guards changes in one step. One that lives and
// does not let go (a stopped process) is waited for until the deadline.
class HeaderLock {
 public:
  HeaderLock(JobHeader& header, std::uint32_t job_rank, std::chrono::milliseconds timeout);
  ~HeaderLock();
  HeaderLock(const HeaderLock&) = delete;
  HeaderLock& operator=(const HeaderLock&) = delete;

  [[nodiscard]] bool is_held() const { return held_; }
  // expired, naming the holder; where it is not held.
  [[nodiscard]] Error refusal() const;

 private:
  JobHeader& header_;
  std::uint32_t mine_;  // job rank plus 1; 0 is nobody
  std::uint32_t holder_ = 0;
  std::chrono::milliseconds timeout_;
  bool held_ = false;
};

}  // namespace muster::host
