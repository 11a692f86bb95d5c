#include "bench/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include "bench/capture.hpp"
#include "bench/system_error.hpp"

namespace muster::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Loading CUDA and other libraries, joining processes.
constexpr std::chrono::seconds time_to_list{60};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t at = 0;
  for (std::size_t tab = 0; tab != std::string::npos; at = tab + 1) {
    tab = line.find('\t', at);
    fields.push_back(line.substr(at, tab == std::string::npos ? tab : tab - at));
  }
  return fields;
}

Result<Role> role_of(const std::string& name) {
  if (name == "floor") return Role::floor;
  if (name == "bare") return Role::bare;
  if (name == "muster") return Role::muster;
  if (name == "peer") return Role::peer;
  return Error{ErrorCode::system, fmt::format("it names a role '{}'", name)};
}

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                  std::chrono::milliseconds{0});
}

}  // namespace

struct MeasuringProgram::Process {
  pid_t pid = -1;
  int in = -1;   // its stdin
  int out = -1;  // its stdout
  std::string unread;
  Capture err;

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    close(in);
    close(out);
    // It ends by itself when its stdin does; its children with it.
    const auto deadline = Clock::now() + std::chrono::seconds{5};
    while (waitpid(pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline) {
        kill(-pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    kill(-pid, SIGKILL);  // whatever it left behind
  }
};

MeasuringProgram::MeasuringProgram(std::string path) : path_(std::move(path)) {}
MeasuringProgram::~MeasuringProgram() = default;

Result<void> MeasuringProgram::start() {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0) return system_error("pipe2");
  if (pipe2(out.data(), O_CLOEXEC) != 0) return system_error("pipe2");
  auto process = std::make_unique<Process>();
  process->in = in[1];
  process->out = out[0];
  const pid_t parent = getpid();
  std::fflush(nullptr);  // or the child writes once more what lies in the buffers
  process->pid = fork();
  if (process->pid < 0) return system_error("fork");
  if (process->pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(process->err.fd(), STDERR_FILENO);
    execl(path_.c_str(), path_.c_str(), static_cast<char*>(nullptr));
    dprintf(STDERR_FILENO, "%s: %s\n", path_.c_str(), std::strerror(errno));
    _exit(127);
  }
  setpgid(process->pid, process->pid);
  close(in[0]);
  close(out[1]);
  process_ = std::move(process);
  return {};
}

// Why it is no longer there; it is started anew by the next list.
Error MeasuringProgram::ended() {
  const std::string said = last_line(process_->err.text());
  const std::string name = std::filesystem::path(path_).filename().string();
  process_.reset();
  return Error{ErrorCode::system, said.empty() ? fmt::format("{} ended", name)
                                               : fmt::format("{} ended: {}", name, said)};
}

Result<std::string> MeasuringProgram::read_line(Clock::time_point deadline) {
  for (;;) {
    const auto newline = process_->unread.find('\n');
    if (newline != std::string::npos) {
      std::string line = process_->unread.substr(0, newline);
      process_->unread.erase(0, newline + 1);
      return line;
    }
    pollfd readable{process_->out, POLLIN, 0};
    const int ready = poll(&readable, 1, static_cast<int>(left_until(deadline).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      kill(-process_->pid, SIGKILL);
      process_.reset();
      return Error{ErrorCode::expired, "no result in time"};
    }
    std::array<char, 4096> piece{};
    const ssize_t n = read(process_->out, piece.data(), piece.size());
    if (n <= 0) return ended();
    process_->unread.append(piece.data(), static_cast<std::size_t>(n));
  }
}

Result<MeasuringProgram::Lines> MeasuringProgram::ask(const std::string& request,
                                                      std::chrono::milliseconds limit) {
  if (process_ == nullptr)
    if (const Result<void> started = start(); !started) return started.error();
  const std::string line = request + "\n";
  // A pipe that nobody reads must not end this program.
  const auto before = signal(SIGPIPE, SIG_IGN);
  const ssize_t written = write(process_->in, line.data(), line.size());
  signal(SIGPIPE, before);
  if (written != static_cast<ssize_t>(line.size())) return ended();

  const auto deadline = Clock::now() + limit;
  Lines lines;
  for (;;) {
    Result<std::string> reply = read_line(deadline);
    if (!reply) return reply.error();
    if (*reply == "end") break;
    lines.push_back(std::move(*reply));
  }
  for (const std::string& reply : lines) {
    const std::vector<std::string> fields = fields_of(reply);
    if (fields[0] == "unavailable" && fields.size() == 2)
      return Error{ErrorCode::unavailable, fields[1]};
    if (fields[0] == "failed" && fields.size() == 2) return Error{ErrorCode::system, fields[1]};
  }
  return lines;
}

Result<std::string> MeasuringProgram::devices() {
  const Result<Lines> reply = ask("devices", time_to_list);
  if (!reply) return reply.error();
  if (reply->size() == 1)
    if (const auto fields = fields_of(reply->front()); fields.size() == 2) return fields[1];
  return Error{ErrorCode::system, "it does not say on what it runs"};
}

Result<std::vector<Contender>> MeasuringProgram::list(const std::string& topic,
                                                      const Request& request) {
  const Result<Lines> reply =
      ask(fmt::format("list\t{}\t{}\t{}", topic, request.bytes, request.variant), time_to_list);
  if (!reply) return reply.error();
  std::vector<Contender> all;
  for (const std::string& line : *reply) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != 5 || fields[0] != "contender")
      return Error{ErrorCode::system, fmt::format("it lists '{}'", line)};
    const Result<Role> role = role_of(fields[1]);
    if (!role) return role.error();
    all.push_back(
        {.name = fields[3],
         .group = fields[2],
         .role = *role,
         .as = As::gpus,
         .why_not = fields[4],
         .run = [this, index = all.size()](const Plan& plan) { return run(index, plan); }});
  }
  return all;
}

Result<Blocks> MeasuringProgram::run(std::size_t index, const Plan& plan) {
  if (process_ == nullptr)
    return Error{ErrorCode::system, "the program that measures it has ended before"};
  const Result<Lines> reply = ask(
      fmt::format("run\t{}\t{}\t{}\t{}", index, plan.warm_up, plan.calls, plan.repeat), plan.limit);
  if (!reply) return reply.error();
  Blocks blocks;
  if (reply->size() == 1) {
    const std::vector<std::string> fields = fields_of(reply->front());
    for (std::size_t i = 1; i < fields.size() && fields[0] == "ns"; ++i)
      blocks.push_back(std::strtod(fields[i].c_str(), nullptr));
  }
  const bool good = blocks.size() == plan.repeat &&
                    std::all_of(blocks.begin(), blocks.end(), [](double ns) { return ns > 0; });
  if (good) return blocks;
  return Error{ErrorCode::system,
               fmt::format("it gave no time for each of {} blocks", plan.repeat)};
}

}  // namespace muster::bench
