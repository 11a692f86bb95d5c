// Starts the ranks of a job and looks after them until the last one has ended. `muster run` and the
// bare start of a program both stand on this; they differ in what the child does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace muster::launcher {

enum class Bind : std::uint8_t {
  none,
  cores,  // rank r runs on the r-th (mod their number) core that this process may use
};

// Which of the processes that ranks leave running when all ranks have ended are left alone.
enum class Keep : std::uint8_t {
  none,
  detached,  // those in another session than the launcher's (setsid)
  all,
};

// What is told of ranks that other launchers look after.
struct RemoteEvent {
  std::optional<int> signal;  // to be passed on to the ranks here
  std::optional<int> failed;  // a rank, with this status: those here have to end
  std::optional<int> over;    // all ranks have ended; the status of the job
  std::uint32_t rank = 0;     // that failed
  std::string line;           // about it
};

// The rest of a job that has ranks on other hosts, too.
struct Elsewhere {
  int events = -1;  // readable when next() has something; -1: there is no rest
  std::function<std::optional<RemoteEvent>()> next;
  // Told of each signal that this launcher passes on, of each of its ranks that fails (and of the
  // time limit, as a failure of the first), and when all of them have ended, with the status that
  // the job has as seen from here.
  std::function<void(int signal)> pass_on;
  std::function<void(std::uint32_t rank, int status, const std::string& line)> failed;
  std::function<void(int status)> ended;
};

struct LaunchOptions {
  std::uint32_t ranks = 1;
  std::uint32_t first_rank = 0;  // the job's number of the first rank here, for messages and tags
  Elsewhere elsewhere;
  // Called when all ranks here have been started.
  std::function<void()> on_started;
  std::chrono::milliseconds timeout{0};  // for the whole job; 0: none
  bool tag_output = false;               // each line of a rank's output starts with "[rank] "
  Bind bind = Bind::none;
  // The children run programs, and there may be others between those and this process: they are
  // given a tether (launch/tether.hpp) by which a rank ends with this process all the same.
  bool tethers = false;
  Keep keep = Keep::detached;
  std::chrono::milliseconds grace{5000};  // what the others get to end after a rank failed
  // Asked when the grace is over: true where the survivors have recovered and go on without the
  // rank that failed. Not set: they are stopped.
  std::function<bool()> survivors_go_on;
  // Asked of a rank whose process has ended: true where it was in the middle of its body, by exit()
  // or the like. It has failed then, and code 0 is taken for 1.
  std::function<bool(std::uint32_t rank)> left_body;
  // Asked of a rank that was killed by signal 9, for which there is no other explanation: what may
  // have done it, to be added to the line about the rank.
  std::function<std::string()> about_kill;
  // Told of each rank whose process has ended, however it did.
  std::function<void(std::uint32_t rank)> on_end;
  // Asked when a rank ends with a code: is this other one lost, as the job sees it? A process that
  // dies is lost to the others a little before it has ended, and they may end before it.
  std::function<bool(std::uint32_t rank)> is_lost;
  // Asked at the end: the rank that was the first to fail as the job itself saw it, if any. Its
  // status is returned, unless the first that failed here died in the middle of its body: a rank
  // that says how it fails may end after those that heard of it, and one that dies does not.
  std::function<std::optional<std::uint32_t>()> first_to_fail;
};

// The status that launch returns when the time limit is reached.
inline constexpr int time_limit_status = 124;

// Forks `ranks` processes. In each of them runs child(rank), which may exec, and ends the process
// with its value; an exception that leaves child ends the process by std::terminate. Rank 0 keeps
// the standard input, the others read /dev/null. The caller's signal mask, dispositions and limits
// hold in the children; they are killed when this process (or the calling thread) dies.
//
// `child`, and the functions in the options, count the ranks here from 0; with ranks elsewhere,
// launch returns when those have ended, too, and what the job's status is. Signals go to all ranks.
//
// In the parent it returns when all ranks and the processes that they left behind have ended, but
// for those that `keep` says, which it does not wait for:
//  - INT, TERM, HUP, QUIT, USR1, USR2, TSTP and CONT are passed on to all ranks; TSTP also stops
//    the launcher, and a second INT kills the ranks;
//  - each rank that fails is named on stderr, in one line;
//  - where pidfd_open is refused (a container's filter, an old kernel) it waits for its children as
//    such: all is the same, but of ranks that end between two looks the lowest counts as the first;
//  - children that this process had before, and those of its other threads, are left alone;
//  - `grace` after a failure, and at the time limit, ranks that still run get TERM, a second
//    later KILL; so do processes that outlive the ranks, a second after the last of them.
// Returns the exit status of the rank that failed first (128 + n for signal n), also where the
// others went on without it, 0 where none did,
// 124 when the time limit was reached, 130 after the second INT, and 1 where the ranks could not be
// started. Signals go to a process: call it where no other thread takes them. Several threads may
// launch at once; then one of them gets each signal.
int launch(const LaunchOptions& options, const std::function<int(std::uint32_t rank)>& child);

}  // namespace muster::launcher
