// Ties the life of a rank to that of `muster run`, whatever processes stand between the two.
//
// The launcher holds one end of a pipe for each rank, and nobody else does; a rank inherits the
// other end, through wrappers too. When the launcher ends, however it does, the kernel hangs up the
// pipe, and kills the process that has asked for it by fcntl(F_SETOWN, F_SETSIG, O_ASYNC): the one
// that is the rank, and nothing that it has started. It needs no thread, no process number, and
// nothing of /proc. Nothing is ever written into the pipe.
//
// The request belongs to the open pipe and not to a descriptor: where a program closes all that it
// has, it holds for as long as a wrapper has the pipe open. Beyond that a rank that waits in any
// call of muster's sees the launcher's mark in the job's memory (fabric/host/liveness.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.hpp"

namespace muster::launcher {

// Close-on-exec, both. Not open, with errno, where the system has no descriptors left.
struct Tether {
  Fd held;       // by the launcher
  Fd handed_on;  // to the rank
};
[[nodiscard]] Tether make_tether();

// In the process that will be the rank, or the wrapper around it: what is started from here on has
// the end of the pipe, and MUSTER_TETHER says where.
void hand_on(const Fd& tether);

// This process is the rank: it ends with the launcher from here on, by SIGKILL, and at once where
// the launcher is gone already. What it starts does not have the pipe. Nothing happens where
// MUSTER_TETHER is not set, or something has closed the pipe.
//
// As the first process of a pid namespace it cannot be killed so: there a thread waits, and ends it
// by end_without_launcher(); so it is where the kernel does not know F_SETSIG for pipes.
void hold_tether(const std::string& rank);

// The same, from the start of a program on that is going to be a rank, before main: unless another
// process of the rank has taken the pipe, and without a thread. Programs that are no rank are not
// told from those that are; whoever joins the job takes the pipe over.
void hold_tether_early();

}  // namespace muster::launcher
