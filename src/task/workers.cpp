#include "task/workers.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace muster::task {
namespace {

using oneapi::tbb::global_control;

struct Shares {
  std::mutex lock;
  std::uint32_t workers = 0;
  pid_t process = 0;  // the first that had any
  std::unique_ptr<global_control> control;

  // The least of all controls that there are holds, so the new one comes before the old one goes.
  // The program's threads that join an arena count as well.
  void allow() {
    const auto cores = static_cast<std::uint32_t>(oneapi::tbb::info::default_concurrency());
    auto next = std::make_unique<global_control>(global_control::max_allowed_parallelism,
                                                 std::max(cores, workers + 1));
    control = std::move(next);
  }
};

Shares& shares() {
  static auto* const all = new Shares;  // it outlives what a thread may still do at exit
  return *all;
}

}  // namespace

WorkerShare::WorkerShare(std::uint32_t workers) : workers_(workers) {
  Shares& all = shares();
  const std::lock_guard guard(all.lock);
  if (all.process == 0) all.process = getpid();
  if (all.process != getpid()) {
    throw Failure(
        Error{ErrorCode::unavailable,
              "this process was forked from one that had run tasks: oneTBB's workers "
              "did not come along; run tasks in the children alone, or start them by exec"});
  }
  all.workers += workers_;
  all.allow();
}

WorkerShare::~WorkerShare() {
  Shares& all = shares();
  const std::lock_guard guard(all.lock);
  all.workers -= workers_;
  if (all.workers == 0) {
    all.control.reset();
  } else {
    all.allow();
  }
}

}  // namespace muster::task
