// muster::run: starts the ranks of a program, or joins those that a launcher started.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "muster/result.hpp"
#include "muster/team.hpp"
#include "muster/types.hpp"

namespace muster {

enum class RunAs : std::uint8_t { processes, threads };
inline constexpr RunAs processes = RunAs::processes;
inline constexpr RunAs threads = RunAs::threads;

struct RunOptions {
  // How many ranks to start. Where a launcher (muster run, mpirun, srun, torchrun) has started this
  // program, the launcher's number holds, and rank 0 says so on stderr if it is another one. 0: 2
  // ranks, or as many as the launcher says. At most 1024.
  std::uint32_t ranks = 0;
  RunAs as = processes;

  // The most lanes that a rank will run at once; rows are made for so many.
  std::uint32_t lanes = 8;

  // How long a wait may take, and all waits of one call together (a barrier, an exchange, a set-up
  // call); MUSTER_TIMEOUT (in seconds) overrides it. 100 years at most, which is for ever. Where
  // another launcher than muster run has started the ranks, they have 30 seconds to find each
  // other, or less where this is less, or MUSTER_TIMEOUT.
  std::chrono::milliseconds timeout{600'000};

  // What a wait of a lane that has taken so long does to the team: it fails it, for all ranks; or,
  // with `retry`, nothing. Then only what says that it may be called again after that can be (of
  // the barriers EpochBarrier and DisseminationBarrier), and by all ranks equally often.
  OnExpiry on_expiry = OnExpiry::fail;
};

namespace detail {

// What the body returns, as an exit code or an error.
template <class Body, class AnyTeam>
Result<int> outcome(Body& body, AnyTeam& team) {
  using Returned = std::invoke_result_t<Body&, AnyTeam&>;
  if constexpr (std::is_void_v<Returned>) {
    body(team);
    return 0;
  } else if constexpr (std::is_same_v<Returned, WaitStatus>) {
    const Result<void> result = result_of(body(team));
    return result ? Result<int>(0) : Result<int>(result.error());
  } else if constexpr (std::is_same_v<Returned, Result<void>>) {
    const Result<void> result = body(team);
    return result ? Result<int>(0) : Result<int>(result.error());
  } else {
    static_assert(std::is_convertible_v<Returned, int>,
                  "the body of run returns void, int, WaitStatus or Result<void>");
    return static_cast<int>(body(team));
  }
}

int run_ranks(const RunOptions& options, const std::function<Result<int>(Team&)>& body);

}  // namespace detail

// Runs body(team) on every rank: Team& -> void, int, WaitStatus or Result<void>. In processes of
// their own (bare start: this process forks them, watches them and reports; it never runs the body
// itself), in threads of this process, or in this process alone where a launcher has started it as
// one rank.
//
// Returns what main should return: 0 where every body ended well, 1 after an error (reported in one
// line on stderr; the other ranks' waits return `aborted`), the body's own code, or for a bare
// start the status of the rank that failed first (128 + n for signal n). 2 where the options are
// wrong. Leaving is a barrier of the team. A rank that ends its process in the middle of the body,
// by exit(0) too, has failed: its launcher names it, and the others' waits return `peer_lost`.
// Where the ranks are threads, or another launcher started them, exit(0) and quick_exit() end the
// process with a line and status 1; _exit(0) in a thread cannot be seen.
//
// A program may call run again after it has returned; where a launcher started it, the same ranks
// meet again, and all of them have to. What a body starts is no rank of the job: a run inside the
// body, in a process that it forks or in a program that it starts has ranks of its own, unless
// another launcher started that program. To that end run changes the environment of a launched
// process before the body begins: MUSTER_RANK, MUSTER_RANKS, MUSTER_JOB_FD, MUSTER_TETHER and
// MUSTER_LAUNCHER go, and where another launcher's variables are set, MUSTER_JOINED comes. No other
// thread may use the environment meanwhile.
//
// A rank does not outlive its launcher, also where a wrapper stands between the two. Ranks of
// `muster run` and of a bare start are killed (signal 9) when the launcher ends, from the start of
// the program on; what they have started is not. Ranks of another launcher (mpirun, srun, torchrun)
// end with one line on stderr and status 129; from run on a thread waits for that, with a
// descriptor table of its own, and a launcher that has ended before run is noticed there. The
// launcher is the nearest ancestor without the rank's variables, so it cannot be seen from within a
// pid namespace of the rank's own, without /proc, or past a wrapper that the user may not look
// into: there a rank outlives it. A rank of `muster run` that is the first process of a pid
// namespace ends with a line and status 129, too, from run on. A program that closes the descriptor
// which MUSTER_TETHER names, as all wrappers around it have done too, is ended so at its next wait
// in a call of muster's; until then it lives on.
//
// Who started the process is told by the environment. Where the variables of several launchers are
// set and disagree, as those do that are left over from elsewhere, run returns 2 and names them;
// MUSTER_LAUNCHER (muster, torchrun, openmpi, slurm, mpich, pmix, or none) says which one holds.
template <class Body>
int run(const RunOptions& options, Body&& body) {
  return detail::run_ranks(options, [&body](Team& team) { return detail::outcome(body, team); });
}

}  // namespace muster
