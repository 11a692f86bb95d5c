#include "launch/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launch/epoll.hpp"

namespace muster::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto stop_patience = 1s;    // from SIGTERM to SIGKILL
constexpr auto orphan_patience = 1s;  // the same for processes that outlive the ranks, and before
constexpr int interrupted_status = 128 + SIGINT;

constexpr int longest_blind = 100;  // milliseconds between two looks at ranks without handles

// What an event belongs to; below these, a rank.
constexpr std::uint32_t signals_event = ~0U;
constexpr std::uint32_t relay_event = ~0U - 1;
constexpr std::uint32_t elsewhere_event = ~0U - 2;

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

std::string name(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t most = 8;
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranks.size()));
  std::string text =
      fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks.begin(), end, ", "));
  if (ranks.size() > most) text += fmt::format(" and {} more", ranks.size() - most);
  return text;
}

// Of the signals that are passed on: those that ask a program to end.
bool ends_by_default(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

std::string count(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

Supervisor::Supervisor(const LaunchOptions& options, std::vector<RankProcess> processes,
                       SignalWatch& signals, const Orphanage& orphanage, Relay* relay)
    : options_(options),
      processes_(std::move(processes)),
      signals_(signals),
      orphanage_(orphanage),
      relay_(relay),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  watch(epoll_.get(), signals_.fd(), signals_event);
  if (relay_ != nullptr) watch(epoll_.get(), relay_->done_fd(), relay_event);
  if (options_.elsewhere.events >= 0)
    watch(epoll_.get(), options_.elsewhere.events, elsewhere_event);
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (processes_[rank].handle.is_open()) {
      watch(epoll_.get(), processes_[rank].handle.get(), rank);
    } else {
      has_handles_ = false;
    }
    alive_.insert(processes_[rank].pid);
  }
  if (options_.timeout > 0ms) time_limit_ = Clock::now() + options_.timeout;
}

int Supervisor::run() {
  while (!alive_.empty()) {
    wait_for_events(next_deadline());
    on_deadlines();
  }
  end_orphans();
  end_relay();
  const int status = own_status();
  return options_.elsewhere.events >= 0 ? wait_for_elsewhere(status) : status;
}

int Supervisor::own_status() {
  if (!status_ && relay_ != nullptr && relay_->lost_output()) return 1;
  // A death comes before whatever the others have made of it.
  if (status_ && !first_died_ && options_.first_to_fail && phase_ == Phase::running) {
    const auto first = options_.first_to_fail();
    if (first && codes_.contains(*first)) return codes_[*first];
  }
  return status_.value_or(0);
}

int Supervisor::wait_for_elsewhere(int status) {
  options_.elsewhere.ended(status);
  relay_ = nullptr;  // it has ended
  while (!over_) {
    wait_for_events({});
    if (interrupts_ >= 2) return interrupted_status;
  }
  return *over_;
}

void Supervisor::abandon() {
  kill();
  // Not by events: the handle of the last one may be what could not be had.
  for (const pid_t pid : alive_) waitpid(pid, nullptr, 0);
  alive_.clear();
  end_orphans();
  end_relay();
}

// ---- events

void Supervisor::wait_for_events(Deadline until) {
  int timeout = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
    timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
  }
  // SIGCHLD ends the wait, unless another thread's launcher has taken it.
  if (!has_handles_ && (timeout < 0 || timeout > longest_blind)) timeout = longest_blind;
  // epoll hands events out in the order in which they came about, which is how we know who failed
  // first when several ranks end between two looks. So all must fit, and be taken in order.
  std::vector<epoll_event> events(processes_.size() + 3);
  const int ready =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  for (int i = 0; i < ready; ++i) {
    const std::uint32_t what = events[static_cast<std::size_t>(i)].data.u32;
    if (what == signals_event) {
      on_signals();
    } else if (what == relay_event) {
      relay_done_ = true;
    } else if (what == elsewhere_event) {
      on_elsewhere();
    } else {
      on_end_of(what);
    }
  }
  if (!has_handles_) look_for_ends();
}

void Supervisor::look_for_ends() {
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (processes_[rank].pid != 0 && !processes_[rank].handle.is_open()) on_end_of(rank);
  }
}

void Supervisor::on_end_of(std::uint32_t rank) {
  RankProcess& process = processes_[rank];
  int wait_status = 0;
  const pid_t reaped = waitpid(process.pid, &wait_status, WNOHANG);
  // Another launcher of this process may have reaped it: it has ended, and how is not known.
  const bool taken = reaped < 0 && errno == ECHILD;
  if (taken) wait_status = W_EXITCODE(1, 0);
  if (reaped != process.pid && !taken) return;
  // Closing alone would leave it in the set while a rank that was just forked has a copy.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, process.handle.get(), nullptr);
  process.handle.reset();
  alive_.erase(process.pid);
  const bool well = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  const bool in_body = options_.left_body && options_.left_body(rank);
  if (!well || in_body) report(rank, wait_status, in_body);
  process.pid = 0;
  if (options_.on_end) options_.on_end(rank);
}

void Supervisor::report(std::uint32_t rank, int wait_status, bool in_body) {
  const bool by_signal = WIFSIGNALED(wait_status);
  const int signal = by_signal ? WTERMSIG(wait_status) : 0;
  const bool left_body = !by_signal && WEXITSTATUS(wait_status) == 0;
  const int code = by_signal ? 128 + signal : left_body ? 1 : WEXITSTATUS(wait_status);
  // Who ends because we stopped it did not fail. A crash is told all the same.
  const bool stopped = phase_ != Phase::running;
  if (stopped && (!by_signal || signal == SIGTERM || signal == SIGKILL)) return;

  std::string line = fmt::format("rank {} exited with code {}", in_job(rank), code);
  if (by_signal) {
    line = fmt::format("rank {} (pid {}) was killed by signal {} ({}){}", in_job(rank),
                       processes_[rank].pid, signal, describe_signal(signal),
                       signal == SIGKILL && options_.about_kill ? options_.about_kill() : "");
  } else if (left_body) {
    line = fmt::format("rank {} exited with code 0 in the middle of its body", in_job(rank));
  }
  say(line);
  if (options_.elsewhere.failed) options_.elsewhere.failed(in_job(rank), code, line);
  codes_[rank] = code;
  const bool died = by_signal || in_body;
  if (!status_ || (died && heard_of_one_)) {
    status_ = code;
    first_died_ = died;
    heard_of_one_ = !died && one_is_dying();
  }
  if (stopped) return;
  last_failed_ = in_job(rank);
  // A team that can recover gets its time after each failure; others have to end after the first.
  if (!grace_over_ || options_.survivors_go_on) grace_over_ = Clock::now() + options_.grace;
}

bool Supervisor::one_is_dying() const {
  if (!options_.is_lost) return false;
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (alive_.contains(processes_[rank].pid) && options_.is_lost(rank)) return true;
  }
  return false;
}

void Supervisor::on_signals() {
  while (const auto info = signals_.next()) {
    if (info->ssi_signo == SIGCHLD) {
      orphanage_.reap(alive_);
    } else {
      pass_on(*info);
    }
  }
}

bool Supervisor::interrupts_again(int signal) {
  if (ends_by_default(signal)) must_end_ = true;
  if (ends_by_default(signal) && alive_.empty()) signal_at_end_ = signal;
  if (signal != SIGINT || ++interrupts_ != 2) return false;
  say(fmt::format("interrupted again; killing {}", count(alive_.size(), "rank", "ranks")));
  status_ = interrupted_status;
  kill();
  return true;
}

void Supervisor::on_elsewhere() {
  while (const auto event = options_.elsewhere.next()) {
    if (event->over) over_ = event->over;
    if (event->signal && !interrupts_again(*event->signal)) signal_all(*event->signal);
    if (!event->failed) continue;
    say(event->line);
    if (!status_) status_ = event->failed;
    last_failed_ = event->rank;
    if (!grace_over_) grace_over_ = Clock::now() + options_.grace;
  }
}

void Supervisor::pass_on(const signalfd_siginfo& info) {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (options_.elsewhere.pass_on) options_.elsewhere.pass_on(signal);
  if (interrupts_again(signal)) return;
  for (const pid_t pid : alive_) {
    // A key of the terminal has reached every process of the group by itself.
    if (came_from_terminal(info) && getpgid(pid) == getpgrp()) continue;
    ::kill(pid, signal);
  }
  if (signal == SIGTSTP) signals_.stop_here();
}

// ---- deadlines

Supervisor::Deadline Supervisor::next_deadline() const {
  Deadline next;
  const auto consider = [&](Deadline deadline) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  };
  if (phase_ == Phase::running) {
    consider(time_limit_);
    consider(grace_over_);
  } else if (phase_ == Phase::stopping) {
    consider(kill_at_);
  }
  return next;
}

void Supervisor::on_deadlines() {
  const auto now = Clock::now();
  const auto passed = [&](Deadline deadline) { return deadline && *deadline <= now; };
  if (alive_.empty()) return;
  if (phase_ == Phase::stopping && passed(kill_at_)) {
    say(fmt::format("{} did not end within {}; killing", name(running_ranks()),
                    seconds(stop_patience)));
    kill();
  }
  if (phase_ != Phase::running) return;
  if (passed(time_limit_)) {
    const std::string line = fmt::format("time limit of {} reached", seconds(options_.timeout));
    say(fmt::format("{}; stopping {}", line, count(alive_.size(), "rank", "ranks")));
    if (options_.elsewhere.failed)
      options_.elsewhere.failed(options_.first_rank, time_limit_status, line);
    if (!status_) status_ = time_limit_status;
    stop();
  } else if (passed(grace_over_)) {
    grace_over_.reset();
    if (options_.survivors_go_on && options_.survivors_go_on()) return;
    const auto left = running_ranks();
    say(fmt::format("{} still run{} {} after rank {} failed; stopping", name(left),
                    left.size() == 1 ? "s" : "", seconds(options_.grace), last_failed_));
    stop();
  }
}

void Supervisor::stop() {
  must_end_ = true;
  phase_ = Phase::stopping;
  kill_at_ = Clock::now() + stop_patience;
  signal_all(SIGTERM);
  signal_all(SIGCONT);  // a stopped rank would not see the other
}

void Supervisor::kill() {
  must_end_ = true;
  phase_ = Phase::killing;
  signal_all(SIGKILL);
}

void Supervisor::signal_all(int signal) {
  for (const pid_t pid : alive_) ::kill(pid, signal);
}

// ---- the end

std::vector<pid_t> Supervisor::left_behind() {
  std::vector<pid_t> left = orphanage_.reap(alive_);
  if (options_.keep == Keep::all) return {};
  if (options_.keep == Keep::detached) {
    std::erase_if(left, [](pid_t pid) { return getsid(pid) != getsid(0); });
  }
  return left;
}

void Supervisor::end_orphans() {
  // They get time, then TERM, then KILL. They come and go meanwhile, so look anew after each event.
  std::vector<pid_t> left;
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    left = left_behind();
    if (signal == SIGTERM && !left.empty()) {
      say(fmt::format("{} outlived the ranks; stopping",
                      count(left.size(), "process", "processes")));
    }
    std::set<pid_t> told;
    const auto until = Clock::now() + orphan_patience;
    while (!left.empty() && Clock::now() < until) {
      for (const pid_t pid : left) {
        if (signal == 0 || !told.insert(pid).second) continue;
        ::kill(pid, signal);
        ::kill(pid, SIGCONT);
      }
      wait_for_events(until);
      left = left_behind();
    }
  }
  if (!left.empty()) say(fmt::format("cannot stop pid {}", fmt::join(left, ", ")));
}

std::vector<std::uint32_t> Supervisor::running_ranks() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (alive_.contains(processes_[rank].pid)) ranks.push_back(in_job(rank));
  }
  return ranks;
}

}  // namespace muster::launcher
