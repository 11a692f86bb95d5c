// The process that has started this one as a rank: mpirun, torchrun, SLURM's step daemon, orted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "launch/environment.hpp"

namespace muster::launcher {

// It and no later process of its number.
struct Ancestor {
  pid_t pid = 0;
  std::uint64_t started = 0;
};

// The nearest ancestor whose environment is not that of a rank of this job: what stands between,
// the user's wrappers, has inherited it. One of another user, whose environment cannot be read, is
// no wrapper. No value where it cannot be seen: without /proc, from within a pid namespace of the
// rank's own, past a wrapper that cannot be looked into; nor where it is the first process, which
// nothing here outlives; nor where torchrun's variables were set by somebody else than torchrun,
// who need not stay.
[[nodiscard]] std::optional<Ancestor> launching_ancestor(const LaunchedBy& self);

// Has it ended? False where it cannot be looked at.
[[nodiscard]] bool has_gone(const Ancestor& ancestor);

}  // namespace muster::launcher
