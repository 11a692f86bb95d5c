#include "check/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sstream>
#include <system_error>
#include <utility>

#include "check/print.hpp"

namespace muster::check {

namespace {

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(to, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

// The engine asks between operations of the fabric whether time is up. A loop without any is ended
// by the system, some time later.
void limit_processor_time(double timeout) {
  if (timeout <= 0) return;
  const auto seconds = static_cast<rlim_t>(std::ceil(timeout * 1.5)) + 1;
  const rlimit limit{seconds, seconds};
  setrlimit(RLIMIT_CPU, &limit);  // where it is lower already that is as good
}

// The child: its reports, a line each as soon as it is known. An exception from here ends it, and
// is never the parent's.
[[noreturn]] void serve(int to, pid_t parent, const Command& command, const Entry& entry,
                        double timeout) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  std::signal(SIGINT, SIG_IGN);  // the parent decides what Ctrl-C means
  limit_processor_time(timeout);
  const Deadline deadline(timeout);
  (void)on_profiles(options_for(command, entry), profiles_for(command, entry),
                    [&](Options options) -> std::optional<int> {
                      const Limit limit(command.seconds, &deadline, options);
                      const auto start = std::chrono::steady_clock::now();
                      Report report = explore(options, entry.body);
                      const std::chrono::duration<double> time =
                          std::chrono::steady_clock::now() - start;
                      if (report.unfinished && !limit.reached()) return std::nullopt;
                      if (report.verdict == Verdict::bounded)
                        report.bound = limit.in_words(report.bound);
                      if (!write_all(to, as_json(entry, options, report, {}, time.count()) + '\n'))
                        _exit(1);
                      return status_of(report.verdict);
                    });
  _exit(0);
}

double processor_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Child::Child(const Command& command, const Entry& entry, double timeout)
    : entry_(entry),
      options_(options_for(command, entry)),
      profiles_(profiles_for(command, entry)),
      timeout_(timeout) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe for another check");
  reports_ = Fd(ends[0]);
  const Fd in_child(ends[1]);
  fcntl(reports_.get(), F_SETFL, O_NONBLOCK);
  std::fflush(stdout);  // or the child would have it too
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) fail("no process for another check");
  if (pid_ == 0) serve(in_child.get(), parent, command, entry, timeout);
}

Child::~Child() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

double Child::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Child::read_reports() {
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(reports_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // nothing more for now
    if (got == 0) return reap();
    text_.append(buffer, static_cast<std::size_t>(got));
  }
}

// It has not used the processor for so long that no busy machine is to blame.
bool Child::stands_still() {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return false;
  const double used = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  if (used != std::exchange(used_, used)) used_at_ = seconds();
  return seconds() - used_at_ > 2 * timeout_ + 2;
}

bool Child::ended() {
  if (pid_ >= 0) read_reports();
  if (pid_ >= 0 && timeout_ > 0 && bound_.empty() && stands_still()) {
    bound_ = "over time: the body waits for something that is not the fabric's";
    kill(pid_, SIGKILL);
  }
  return pid_ < 0;
}

void Child::interrupt() {
  if (pid_ < 0) return;
  read_reports();
  if (pid_ < 0) return;
  bound_ = "interrupted";
  kill(pid_, SIGKILL);
  reap();
}

void Child::reap() {
  int status = 0;
  rusage usage{};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (!bound_.empty()) return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool over = timeout_ > 0 && processor_seconds(usage) > timeout_;
  if ((signal == SIGKILL || signal == SIGXCPU) && over)
    bound_ = fmt::format("over time: {:.0f} s, the last of them without an operation of the fabric",
                         processor_seconds(usage));
  else if (signal == SIGKILL)
    bound_ = "killed by somebody else (out of memory?)";
  else if (signal != 0)
    broken_ = fmt::format("the process ended by signal {} ({})", signal, strsignal(signal));
  else
    broken_ = fmt::format("the process ended with status {}", WEXITSTATUS(status));
}

nlohmann::json Child::missing(Profile profile) const {
  Options options = options_;
  options.profile = profile;
  Report report;
  report.bound = bound_;
  if (!broken_.empty()) {
    report.verdict = Verdict::refuted;
    report.findings.push_back({.kind = Kind::body, .what = broken_, .missing = "", .location = ""});
  }
  nlohmann::json json = nlohmann::json::parse(as_json(entry_, options, report, {}, 0));
  json.erase("replay");  // there is none
  return json;
}

std::vector<nlohmann::json> Child::reports() const {
  std::vector<nlohmann::json> known;
  std::istringstream lines(text_);
  for (std::string line; std::getline(lines, line) && !lines.eof();)  // a half line has no end
    known.push_back(nlohmann::json::parse(line));
  std::vector<nlohmann::json> all;
  for (const Profile profile : profiles_) {
    const auto report = std::find_if(known.begin(), known.end(), [&](const nlohmann::json& one) {
      return one["profile"] == name_of(profile);
    });
    all.push_back(report != known.end() ? *report : missing(profile));
  }
  return all;
}

}  // namespace muster::check
