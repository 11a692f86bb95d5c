#include "launch/signals.hpp"

#include <string.h>

namespace muster::launcher {
namespace {

constexpr std::array passed_on{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                               SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

}  // namespace

SignalWatch::SignalWatch() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (const int signal : passed_on) sigaddset(&watched, signal);
  // A blocked signal is queued even where it is ignored, so a program under nohup passes HUP on
  // too.
  pthread_sigmask(SIG_BLOCK, &watched, &old_mask_);

  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &old_actions_[0]);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &old_actions_[1]);
  active_ = true;
  fd_ = Fd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<signalfd_siginfo> SignalWatch::next() {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) return info;
  return std::nullopt;
}

void SignalWatch::stop_here() const {
  struct sigaction own {};
  sigaction(SIGTSTP, nullptr, &own);
  if (own.sa_handler == SIG_IGN) return;
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &by_default, nullptr);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigaction(SIGTSTP, &own, nullptr);
}

void SignalWatch::close() {
  if (!active_) return;
  active_ = false;
  fd_.reset();
  for (std::size_t i = 0; i < replaced_.size(); ++i) {
    sigaction(replaced_[i], &old_actions_[i], nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

bool came_from_terminal(const signalfd_siginfo& info) {
  const auto signal = static_cast<int>(info.ssi_signo);
  const bool key = signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP;
  return key && info.ssi_code == SI_KERNEL;
}

std::string describe_signal(int signal) {
  const char* text = sigdescr_np(signal);
  return text != nullptr ? text : "real-time signal";
}

}  // namespace muster::launcher
