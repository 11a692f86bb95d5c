// How a rank takes part in a job, and how it leaves.
#pragma once

#include <chrono>
#include <memory>

#include "fabric/host/team_context.hpp"
#include "muster/result.hpp"

namespace muster::host {

struct JoinOptions {
  std::uint32_t rank = 0;
  bool processes = true;  // false: this rank is a thread of a process that runs all
  std::chrono::milliseconds timeout{600'000};
  bool verify = false;
  std::uint32_t max_lanes = 8;
  OnExpiry on_expiry = OnExpiry::fail;
  bool marked = false;  // the process holds the rank's mark, for all its runs
};

// Takes part in the job as `rank`; returns when all its ranks have come, and team 0, of all ranks,
// exists. Errors: peer_lost, expired, and those of LifeMark::take.
[[nodiscard]] Result<std::shared_ptr<RankContext>> join(std::shared_ptr<const Job> job,
                                                        const JoinOptions& options);

// The last thing a rank does: from here on its end is no loss.
void leave(RankContext& rank);

}  // namespace muster::host
