#include "team/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor_limit.hpp"
#include "launch/hold.hpp"
#include "launch/rendezvous.hpp"

namespace muster::host {

static_assert(launcher::most_ranks == max_ranks);
namespace {

// Before main: a program may do much before it joins, and its launcher may end meanwhile.
[[maybe_unused]] const bool held_early = (launcher::hold_on_early(), true);

}  // namespace

Membership& Membership::of_process() {
  // Never destroyed: the C library keeps the mark, which lies in the job's memory, in its list.
  static auto& membership = *new Membership;
  return membership;
}

Result<std::optional<launcher::LaunchedBy>> Membership::begin_run() {
  const std::lock_guard guard(lock_);
  if (!self_) {
    auto started = launcher::detect();
    if (!started || !*started) return started;
    self_ = std::move(**started);
    process_ = getpid();
    launcher::hold_on_to_launcher(*self_);
    launcher::hide_from_children();
  }
  if (runs_ || process_ != getpid()) return std::optional<launcher::LaunchedBy>{};
  runs_ = true;
  return self_;
}

void Membership::end_run() {
  const std::lock_guard guard(lock_);
  runs_ = false;
  // Held between runs, it shows the end of the process; but the end of a thread that is not the
  // main one is not the rank's.
  if (gettid() != getpid()) mark_.release();
}

// Attaches to the memory, and takes the rank's mark in it.
Result<void> Membership::settle(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) {
    return Error{ErrorCode::system,
                 fmt::format("cannot keep the job's memory: {}", std::strerror(errno))};
  }
  Result<Job> attached = Job::attach(copy);
  if (!attached) return attached.error();
  auto job = std::make_shared<const Job>(std::move(*attached));
  Result<LifeMark> mark = LifeMark::take(job, self_->rank);
  if (!mark) return mark.error();
  job_ = std::move(job);
  mark_ = std::move(*mark);
  return {};
}

Result<std::shared_ptr<const Job>> Membership::job(std::chrono::milliseconds deadline) {
  const std::lock_guard guard(lock_);
  if (job_) {
    if (mark_.is_held()) return job_;
    Result<LifeMark> mark = LifeMark::take(job_, self_->rank);
    if (!mark) return mark.error();
    mark_ = std::move(*mark);
    return job_;
  }
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
  const DescriptorLimit room(DescriptorLimit::current());  // all may be taken
  const auto settles = [&](int fd) { return settle(fd); };
  if (self_->job_fd) {
    const Result<void> settled = settle(*self_->job_fd);
    close(*self_->job_fd);
    if (!settled) return settled.error();
    return job_;
  }
  const Result<int> fd = launcher::rendezvous(*self_, create, deadline, settles);
  if (!fd) {
    mark_.release();
    job_.reset();
    return fd.error();
  }
  close(*fd);
  return job_;
}

}  // namespace muster::host
