// Looks after ranks that run, until the last of them has ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "launch/launch.hpp"
#include "launch/orphans.hpp"
#include "launch/relay.hpp"
#include "launch/signals.hpp"

namespace muster::launcher {

struct RankProcess {
  pid_t pid = 0;
  Fd handle;  // a pidfd; not open where pidfd_open is refused here
  Fd tether;  // held until the launcher ends; not open where ranks have none
};

// Waits in one place, for the end of ranks, signals, the relay's end and deadlines; nothing polls.
class Supervisor {
 public:
  // `processes` by rank. `relay` is null where the ranks write to stdout and stderr themselves.
  Supervisor(const LaunchOptions& options, std::vector<RankProcess> processes, SignalWatch& signals,
             const Orphanage& orphanage, Relay* relay);

  // Returns the job's exit status.
  int run();

  // Ends all ranks at once and waits for them: the job could not be started in full.
  void abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Deadline = std::optional<Clock::time_point>;

  enum class Phase {
    running,
    stopping,  // told to end
    killing,
  };

  [[nodiscard]] int own_status();
  void wait_for_events(Deadline until);
  void on_end_of(std::uint32_t rank);
  // Those without a handle, of which no event tells.
  void look_for_ends();
  void report(std::uint32_t rank, int wait_status, bool in_body);
  [[nodiscard]] bool one_is_dying() const;
  void on_signals();
  void pass_on(const signalfd_siginfo& info);
  // True where the ranks have been killed instead.
  bool interrupts_again(int signal);
  // What is told of ranks elsewhere.
  void on_elsewhere();
  int wait_for_elsewhere(int status);

  [[nodiscard]] Deadline next_deadline() const;
  void on_deadlines();
  void stop();
  void kill();
  void signal_all(int signal);

  // Processes that outlive the ranks and are not to be kept.
  [[nodiscard]] std::vector<pid_t> left_behind();
  void end_orphans();
  void end_relay();
  void wait_for_readers();
  void say(const std::string& line);
  [[nodiscard]] std::vector<std::uint32_t> running_ranks() const;
  [[nodiscard]] std::uint32_t in_job(std::uint32_t rank) const {
    return options_.first_rank + rank;
  }

  const LaunchOptions& options_;
  std::vector<RankProcess> processes_;
  SignalWatch& signals_;
  const Orphanage& orphanage_;
  Relay* relay_;
  Fd epoll_;

  std::set<pid_t> alive_;
  Phase phase_ = Phase::running;
  Deadline time_limit_;
  Deadline grace_over_;
  Deadline kill_at_;
  std::uint32_t last_failed_ = 0;       // the job's number
  std::optional<int> status_;           // the first failure decides
  bool first_died_ = false;             // without a chance to say so itself
  bool heard_of_one_ = false;           // the first failure here came from a death still to be seen
  std::map<std::uint32_t, int> codes_;  // of the ranks that failed
  int interrupts_ = 0;
  std::optional<int> signal_at_end_;  // to end, when no rank was left
  bool must_end_ = false;             // by a limit or a signal, whoever reads the output
  bool relay_done_ = false;
  bool has_handles_ = true;
  std::optional<int> over_;  // with ranks elsewhere: the job's status, once these have ended, too
};

}  // namespace muster::launcher
