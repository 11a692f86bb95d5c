#include "fabric/host/header_lock.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <thread>

#include "base/step.hpp"
#include "fabric/host/liveness.hpp"

namespace muster::host {

HeaderLock::HeaderLock(JobHeader& header, std::uint32_t job_rank, std::chrono::milliseconds timeout)
    : header_(header), mine_(job_rank + 1), timeout_(timeout) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> begin;
  for (int tries = 0;; ++tries) {
    holder_ = 0;
    // Acquire pairs with the release in the destructor.
    if (header_.lock.compare_exchange_strong(holder_, mine_, std::memory_order_acquire)) break;
    // Another thread of this rank may hold it, for another team.
    if (holder_ != mine_ && is_lost(header_, holder_ - 1) &&
        header_.lock.compare_exchange_strong(holder_, mine_, std::memory_order_acquire))
      break;
    if (tries < 64) {
      sched_yield();
      continue;
    }
    if (!begin) begin = Clock::now();
    if (Clock::now() - *begin >= timeout_) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  held_ = true;
  step(mine_ - 1, "header lock: taken");
}

HeaderLock::~HeaderLock() {
  if (!held_) return;
  step(mine_ - 1, "header lock: let go");
  header_.lock.store(0, std::memory_order_release);
}

Error HeaderLock::refusal() const {
  return Error{ErrorCode::expired,
               fmt::format("rank {} lives and has held the job's lock for {} ms", holder_ - 1,
                           timeout_.count()),
               Rank{mine_ - 1},
               {},
               Rank{holder_ - 1}};
}

}  // namespace muster::host
