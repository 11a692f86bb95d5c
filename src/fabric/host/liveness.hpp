// Which ranks of a job are still alive: who watches whom, and how.
//
// Nobody watches anybody. A rank holds a mark in the job's memory for as long as it takes part: a
// robust mutex of its own, which nobody else ever locks. The kernel keeps a list of those that a
// thread holds, and when the thread ends, however it does, writes into each that its owner has
// died. To look at a peer is to load one word:
//
//  - no descriptor, so a rank that may open none looks as well as any, and no /proc;
//  - no process number, so it does not matter in which pid namespace a peer lives, or whether
//    another process has its number by now;
//  - no watcher, so nobody has to outlive anybody, and it is the same under every launcher;
//  - P ranks make P marks; a look at all peers is P loads from dense memory.
//
// Whoever looks and finds a dead rank fails the team (TeamContext::look_for_lost_peers); all others
// read that in the team's record. Every waiting rank looks ten times a second.
//
// The marks see the end of a rank from the moment when it takes its mark. Before that its end is
// seen by who started it:
//
//  - `muster run` and a bare start wait for their children, and note the end of each (note_end);
//  - under a foreign launcher the ranks meet at rank 0, by sockets, which the kernel closes at the
//    end of a process. Rank 0 lets nobody go on before every rank has the memory and has taken its
//    mark (launch/rendezvous.hpp).
//
// `muster run` holds a mark, too, for as long as it looks after the ranks. Who looks at its peers
// looks at that, and ends where it has died. That is the last of three nets: the kernel kills a
// rank whose launcher ends as its parent, or by its tether (launch/tether.hpp), also where it
// computes and waits for nobody; a program that has closed all its descriptors under a wrapper that
// has done so too, or that is the first of a pid namespace, is seen to by this one at its next
// wait.
//
// The mark belongs to the thread that runs the rank, so exec ends the rank, and a thread that ends
// in the middle of the body too. It lies in a process of which other threads may run for some
// microseconds more: a store of theirs can still land, but none after the team has been shrunk,
// which takes a meeting of the survivors.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/host/job.hpp"
#include "muster/result.hpp"

namespace muster::host {

// Without such a list ranks cannot see each other end.
[[nodiscard]] bool kernel_keeps_robust_list();

// This thread lives, and is a rank. Given back by the thread that took it; where that has ended,
// the mark says that the rank has died.
class LifeMark {
 public:
  LifeMark() = default;
  LifeMark(LifeMark&& other) noexcept;
  LifeMark& operator=(LifeMark&& other) noexcept;
  ~LifeMark() { release(); }

  // Errors: invalid_argument where a living process has the rank already; unavailable where the
  // kernel does not tell peers of a thread's end.
  [[nodiscard]] static Result<LifeMark> take(std::shared_ptr<const Job> job, std::uint32_t rank);
  // That of the launcher. Not held where the kernel does not do it: then ranks cannot join either.
  [[nodiscard]] static LifeMark take_as_launcher(std::shared_ptr<const Job> job);
  void release();
  [[nodiscard]] bool is_held() const { return job_ != nullptr; }

 private:
  LifeMark(std::shared_ptr<const Job> job, pthread_mutex_t& mark);

  std::shared_ptr<const Job> job_;  // the mark lies in its memory
  pthread_mutex_t* mark_ = nullptr;
  int thread_ = 0;
};

// Has the rank ended without leaving the job properly? False as well for one that has not come yet.
[[nodiscard]] bool is_lost(JobHeader& header, std::uint32_t rank);

// Has the rank ended for good, however it did, so that it comes to no further run? In a watched job
// a process that ends may have a successor; there only the launcher's word counts.
[[nodiscard]] bool is_gone(JobHeader& header, std::uint32_t rank);

// Did a launcher hold its mark, and end with it? Then nobody looks after the ranks any more.
[[nodiscard]] bool is_launcher_lost(JobHeader& header);

// Ends this process, the rank's, by end_without_launcher() where that is so.
void end_if_launcher_is_lost(JobHeader& header, std::uint32_t rank);

// The launcher has seen the rank's process end.
void note_end(JobHeader& header, std::uint32_t rank);

}  // namespace muster::host
