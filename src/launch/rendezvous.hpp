// How the ranks of a job that somebody else started come to share its memory.
#pragma once

#include <chrono>
#include <functional>

#include "launch/environment.hpp"
#include "muster/result.hpp"

namespace muster::launcher {

inline constexpr std::chrono::milliseconds join_deadline{30'000};

// Keeps nothing of the descriptor itself, which is the caller's.
using Settle = std::function<Result<void>(int memory)>;

// Called once by every rank of the job (and again, by all, for its next job). Rank 0 makes the
// memory with create_fd and listens on an abstract unix socket, whose name comes from the user and
// the job key; it leaves no file. When all others have come it hands the descriptor to each of
// them, and each settles in: settle(descriptor) is where a rank leaves its sign of life in the
// memory. When all have, rank 0 says so to each, and all return: rank 0 what create_fd gave, the
// others their copy, which is close-on-exec. All or none: no rank has the memory before all have
// come, and none goes on before all have settled, so that a rank whose end the memory does not show
// yet is one that rank 0 holds a connection to.
//
// Both sides check the other's user id. Who comes with another user id, another key, another number
// of ranks, a rank out of range or one that is there already is turned away with the reason, and
// does not disturb the job.
//
// Errors: `expired` when the deadline passes, naming what was awaited (a rank that has reached rank
// 0 waits one second longer, for rank 0 knows who is missing); `peer_lost` when rank 0 ends first,
// or a rank after it has got the memory; what create_fd or settle returned, on all ranks that have
// come; `system`.
[[nodiscard]] Result<int> rendezvous(const LaunchedBy& self,
                                     const std::function<Result<int>()>& create_fd,
                                     std::chrono::milliseconds deadline = join_deadline,
                                     const Settle& settle = {});

}  // namespace muster::launcher
