// The signals that a launcher takes while it has ranks.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <array>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace muster::launcher {

// Blocks the signals that are passed on, and SIGCHLD, and hands them out through a descriptor.
// What the caller had set comes back when this goes, and in a child with close().
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch() { close(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] bool is_open() const { return fd_.is_open(); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::optional<signalfd_siginfo> next();

  // Does to this process what SIGTSTP does by default; returns when it has been continued. Where it
  // is ignored, or nobody could continue the process (an orphaned group), it does nothing, and does
  // nothing to ranks.
  void stop_here() const;

  void close();

 private:
  // Their dispositions are replaced meanwhile: ignored children would not be waited for, and a
  // closed pipe on stdout must not end the launcher.
  static constexpr std::array<int, 2> replaced_{SIGCHLD, SIGPIPE};

  Fd fd_;
  bool active_ = false;
  sigset_t old_mask_{};
  std::array<struct sigaction, replaced_.size()> old_actions_{};
};

// Did the terminal send it, to every process of the foreground group alike?
[[nodiscard]] bool came_from_terminal(const signalfd_siginfo& info);

// "Killed" for 9.
[[nodiscard]] std::string describe_signal(int signal);

}  // namespace muster::launcher
