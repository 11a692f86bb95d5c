#include "team/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/rendezvous.hpp"

namespace muster::host {

static_assert(launcher::most_ranks == max_ranks);

Membership& Membership::of_process() {
  static Membership membership;
  return membership;
}

Result<std::optional<launcher::LaunchedBy>> Membership::begin_run() {
  const std::lock_guard guard(lock_);
  if (!self_) {
    auto started = launcher::detect();
    if (!started || !*started) return started;
    self_ = std::move(**started);
    process_ = getpid();
    launcher::hide_from_children();
  }
  if (runs_ || process_ != getpid()) return std::optional<launcher::LaunchedBy>{};
  runs_ = true;
  return self_;
}

void Membership::end_run() {
  const std::lock_guard guard(lock_);
  runs_ = false;
}

Result<std::shared_ptr<const Job>> Membership::job() {
  const std::lock_guard guard(lock_);
  if (job_) return job_;
  const auto create = [&]() -> Result<int> {
    // A launcher may have bound this rank to one core and the others to others.
    const long cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
    const Result<Job> made =
        create_job({.ranks = self_->ranks, .cores = static_cast<std::size_t>(cores)});
    if (!made) return made.error();
    const int copy = fcntl(made->fd(), F_DUPFD_CLOEXEC, 3);
    if (copy >= 0) return copy;
    return Error{ErrorCode::system,
                 fmt::format("cannot pass the job's memory on: {}", std::strerror(errno))};
  };
  const Result<int> fd = self_->job_fd ? Result<int>(*self_->job_fd) : rendezvous(*self_, create);
  if (!fd) return fd.error();
  Result<Job> attached = Job::attach(*fd);
  if (!attached) return attached.error();
  job_ = std::make_shared<const Job>(std::move(*attached));
  return job_;
}

}  // namespace muster::host
