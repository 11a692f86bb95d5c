// Which rank this process is, by the environment that whoever started it has set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "muster/result.hpp"

namespace muster::launcher {

enum class Launcher : std::uint8_t { muster, torchrun, open_mpi, slurm };

[[nodiscard]] const char* name_of(Launcher launcher);  // "muster run", "torchrun", ...

// A process that somebody else has started as one rank of a job.
struct LaunchedBy {
  Launcher launcher = Launcher::muster;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string job_key;        // the same on all ranks of this job, and on no other job's
  std::optional<int> job_fd;  // launcher == muster only: the job's memory, open in this process
};

// Looks a variable up; null where it is not set. A parameter so that tests need not set any.
using Lookup = std::function<const char*(const char* name)>;

// No value where nobody started this process as a rank. An error where the variables contradict
// each other (rank >= ranks, half of them missing, no number), where MUSTER_JOB_FD is not open, and
// where the job spans several hosts. MUSTER_* come first, then torchrun's, Open MPI's, SLURM's: an
// inner launcher hides an outer one. Those of a launcher whose rank has started this process count
// no more, see hide_from_children.
[[nodiscard]] Result<std::optional<LaunchedBy>> detect();
[[nodiscard]] Result<std::optional<LaunchedBy>> detect(const Lookup& lookup);

// This process is a rank now, and what it starts is not: takes MUSTER_RANK, MUSTER_RANKS and
// MUSTER_JOB_FD out of its environment. The variables of another launcher stay, for others read
// them too; MUSTER_JOINED, a digest of them, tells detect() that they are taken, until an inner
// launcher changes them. No other thread may look at the environment meanwhile.
void hide_from_children();

// What MUSTER_JOINED says where the process that set it saw these variables; empty where none of
// another launcher is set.
[[nodiscard]] std::string joined_mark(const Lookup& lookup);

}  // namespace muster::launcher
