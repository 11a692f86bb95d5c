// Which job this process is a rank of. A process is launched once, and may call run several times.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "fabric/host/job.hpp"
#include "fabric/host/liveness.hpp"
#include "launch/environment.hpp"
#include "muster/result.hpp"

namespace muster::host {

class Membership {
 public:
  // The one of this process.
  [[nodiscard]] static Membership& of_process();

  // The rank that this process is in the run that begins now; no value where it has to start ranks
  // of its own: nobody launched it, or the run lies in the body of another, or a rank forked this
  // process. Hides what the launcher has set from programs that are started from here on.
  // Errors: those of launcher::detect.
  [[nodiscard]] Result<std::optional<launcher::LaunchedBy>> begin_run();
  void end_run();

  // The job's memory: what the launcher has passed on, or what the ranks agree on among themselves
  // the first time. Every run of the job uses it. This thread holds the rank's mark in it from then
  // on. Errors: those of rendezvous, Job::attach and LifeMark::take.
  [[nodiscard]] Result<std::shared_ptr<const Job>> job(std::chrono::milliseconds deadline);

 private:
  [[nodiscard]] Result<void> settle(int fd);

  std::mutex lock_;
  pid_t process_ = 0;  // that was launched; a child that it forks is another
  std::optional<launcher::LaunchedBy> self_;
  std::shared_ptr<const Job> job_;
  LifeMark mark_;  // from the first run on, also between runs
  bool runs_ = false;
};

}  // namespace muster::host
