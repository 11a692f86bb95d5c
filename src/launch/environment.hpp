// Which rank this process is, by the environment that whoever started it has set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "muster/result.hpp"

namespace muster::launcher {

enum class Launcher : std::uint8_t { muster, torchrun, open_mpi, slurm, mpich, pmix };

// Ranks that a job may have on one host, and on all together.
inline constexpr std::uint32_t most_ranks = 1024;
inline constexpr std::uint32_t most_ranks_on_hosts = std::uint32_t{1} << 20U;

// Where the ranks of a job may be that a program can be a rank of.
enum class Reach : std::uint8_t { one_host, any_host };

[[nodiscard]] const char* name_of(Launcher launcher);  // "muster run", "torchrun", ...

// A process that somebody else has started as one rank of a job.
struct LaunchedBy {
  Launcher launcher = Launcher::muster;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::string job_key;        // the same on all ranks of this job, and on no other job's
  std::optional<int> job_fd;  // launcher == muster only: the job's memory, open in this process
  // With Reach::any_host:
  bool one_host = true;          // all ranks are on this host
  std::optional<int> net_fd{};   // launcher == muster only: a link to the ranks on other hosts
  std::uint32_t host_index = 0;  // which host this is, as far as the launcher says
};

// Looks a variable up; null where it is not set. A parameter so that tests need not set any.
using Lookup = std::function<const char*(const char* name)>;

// No value where nobody started this process as a rank. Variables may be left over, or belong to a
// launcher that stands around the one that really started the program: so where several launchers'
// are set they must say the same rank of the same number, or MUSTER_LAUNCHER must name one of them
// (muster, torchrun, openmpi, slurm, mpich, pmix, or none). Those of a launcher whose rank has
// started this process count no more, see hide_from_children. Errors: launchers that disagree, each
// with its numbers; variables that contradict each other (rank >= ranks, half of them missing, no
// number, more than most_ranks); a MUSTER_JOB_FD that is not open; a job that spans several hosts;
// a job that its ranks cannot join (MPICH's mpiexec and bare PMIx do not say of which job they
// are).
[[nodiscard]] Result<std::optional<LaunchedBy>> detect();
[[nodiscard]] Result<std::optional<LaunchedBy>> detect(const Lookup& lookup);
// With Reach::any_host a job may span hosts, and those whose ranks find each other by PMIx or a
// rendezvous need no key.
[[nodiscard]] Result<std::optional<LaunchedBy>> detect(const Lookup& lookup, Reach reach);
[[nodiscard]] Result<std::optional<LaunchedBy>> detect(Reach reach);

// This process is a rank now, and what it starts is not: takes MUSTER_RANK, MUSTER_RANKS,
// MUSTER_JOB_FD, MUSTER_TETHER and MUSTER_LAUNCHER out of its environment. The variables of other
// launchers stay, for others read them too; MUSTER_JOINED, a digest of each launcher's, tells
// detect() that they are taken, until an inner launcher changes them. No other thread may look at
// the environment meanwhile.
void hide_from_children();

// For a launcher inside another's rank: sets MUSTER_JOINED alone.
void take_from_others();

// Takes out of this process's environment what makes it a rank of any launcher.
void forget_launchers();

// What MUSTER_JOINED says where the process that set it saw these variables; empty where none of
// another launcher is set.
[[nodiscard]] std::string joined_mark(const Lookup& lookup);

}  // namespace muster::launcher
