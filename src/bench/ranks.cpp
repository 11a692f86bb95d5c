#include "bench/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "bench/capture.hpp"
#include "bench/system_error.hpp"
#include "launch/binding.hpp"
#include "launch/environment.hpp"

namespace muster::bench {

namespace {

using Clock = std::chrono::steady_clock;

// The status of the child, or nothing if it still runs after `limit`.
std::optional<int> status_within(pid_t child, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (auto pause = std::chrono::microseconds{200};;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    if (Clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds{5000});
  }
}

// Waits for the child, and ends its whole group when the time is over: ranks of a failed run must
// not disturb the next one.
Result<int> reap(pid_t child, int death, std::chrono::milliseconds limit) {
  if (const auto status = status_within(child, limit)) {
    kill(-child, SIGKILL);  // whatever it left behind
    return *status;
  }
  kill(-child, death);
  const bool ended = status_within(child, std::chrono::seconds{2}).has_value();
  kill(-child, SIGKILL);
  if (!ended) waitpid(child, nullptr, 0);
  return Error{ErrorCode::expired, fmt::format("no result within {} ms", limit.count())};
}

// Forks `child` into a process group of its own. It ends with its parent: by SIGTERM where it
// starts a program that has ranks of its own to take along.
Result<int> run_child(const std::function<int()>& child, int out, int err, int death,
                      std::chrono::milliseconds limit) {
  const pid_t parent = getpid();
  std::fflush(nullptr);  // or the child writes once more what lies in the buffers
  const pid_t pid = fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, death);
    if (getppid() != parent) _exit(1);
    if (out >= 0) dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    try {
      _exit(child());
    } catch (const std::exception& failure) {
      dprintf(STDERR_FILENO, "%s\n", failure.what());
    }
    _exit(1);
  }
  setpgid(pid, pid);  // in both, so that it holds whoever comes first
  return reap(pid, death, limit);
}

// An error where the child did not end well.
Result<void> judge(const Result<int>& ended, const Capture& err) {
  if (!ended) return ended.error();
  if (WIFEXITED(*ended) && WEXITSTATUS(*ended) == 0) return {};
  const std::string how = WIFSIGNALED(*ended)
                              ? fmt::format("was ended by signal {}", WTERMSIG(*ended))
                              : fmt::format("exited with status {}", WEXITSTATUS(*ended));
  const std::string said = last_line(err.text());
  return Error{ErrorCode::system, said.empty() ? how : fmt::format("{}: {}", how, said)};
}

}  // namespace

void forget_launcher() {
  launcher::forget_launchers();
  for (const char* name : {"LOCAL_RANK", "SLURM_NTASKS"}) unsetenv(name);
}

SharedBytes::SharedBytes(std::size_t bytes) : bytes_(bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) throw Failure(system_error("mmap"));
  madvise(mapped, bytes, MADV_DONTDUMP);
  data_ = mapped;
}

SharedBytes::~SharedBytes() {
  munmap(data_, bytes_);
}

void pin(const Plan& plan, std::uint32_t rank) {
  if (plan.cores.empty()) return;
  if (!launcher::pin_to_core(plan.cores, rank)) throw Failure(system_error("sched_setaffinity"));
}

Result<Blocks> run_apart(const Plan& plan, const std::function<int(std::span<RankLog>)>& child) {
  const SharedBytes shared(sizeof(RankLog) * plan.ranks);
  const std::span logs(shared.at<RankLog>(), plan.ranks);
  const Capture err;
  const auto ended = run_child([&] { return child(logs); }, -1, err.fd(), SIGKILL, plan.limit);
  if (const auto verdict = judge(ended, err); !verdict) return verdict.error();

  Blocks blocks(plan.repeat, 0.0);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    if (logs[rank].ends != plan.repeat)
      return Error{ErrorCode::system, fmt::format("rank {} completed {} of {} blocks", rank,
                                                  logs[rank].ends, plan.repeat)};
    for (std::uint32_t block = 0; block < plan.repeat; ++block)
      blocks[block] = std::max(blocks[block], logs[rank].ns[block]);
  }
  return blocks;
}

int run_ranks(const Plan& plan, As as, const std::function<void(std::uint32_t)>& body) {
  const auto run = [&](std::uint32_t rank) {
    pin(plan, rank);
    body(rank);
  };
  if (as == As::threads) {
    std::vector<std::jthread> ranks;
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) ranks.emplace_back(run, rank);
    return 0;
  }
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw Failure(system_error("fork"));
    if (pid != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(rank);
    _exit(0);
  }
  int worst = 0;
  int status = 0;
  while (wait(&status) > 0) worst = std::max(worst, status == 0 ? 0 : 1);
  return worst;
}

Result<std::string> run_program(const std::vector<std::string>& command,
                                std::chrono::milliseconds limit) {
  const Capture out;
  const Capture err;
  const auto ended = run_child(
      [&] {
        std::vector<char*> argv;
        for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execvp(argv[0], argv.data());
        throw Failure(system_error(argv[0]));
        return 1;
      },
      out.fd(), err.fd(), SIGTERM, limit);
  if (const auto verdict = judge(ended, err); !verdict) return verdict.error();
  return out.text();
}

}  // namespace muster::bench
