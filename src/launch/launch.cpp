#include "launch/launch.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "base/descriptor_limit.hpp"
#include "base/process_limit.hpp"
#include "launch/binding.hpp"
#include "launch/child.hpp"
#include "launch/orphans.hpp"
#include "launch/relay.hpp"
#include "launch/signals.hpp"
#include "launch/supervisor.hpp"
#include "launch/tether.hpp"

namespace muster::launcher {
namespace {

constexpr std::uint64_t descriptors_per_rank = 4;  // a handle, a tether and two pipes

// Everything that the launcher holds while it has ranks.
struct Launch {
  const LaunchOptions& options;
  DescriptorLimit descriptors;
  SignalWatch signals;
  Orphanage orphanage;
  std::unique_ptr<Relay> relay;
  std::vector<int> cores;
  std::vector<RankProcess> processes;

  explicit Launch(const LaunchOptions& given)
      : options(given), descriptors(descriptors_per_rank * given.ranks) {
    if (options.tag_output) relay = std::make_unique<Relay>();
    if (options.bind == Bind::cores) cores = allowed_cores();
    processes.reserve(options.ranks);
  }

  [[noreturn]] void become(std::uint32_t rank, pid_t launcher, OutputPipes output, Tether tether,
                           const std::function<int(std::uint32_t)>& child);
  [[nodiscard]] bool start(std::uint32_t rank, const std::function<int(std::uint32_t)>& child);
};

// In the forked process.
void Launch::become(std::uint32_t rank, pid_t launcher, OutputPipes output, Tether tether,
                    const std::function<int(std::uint32_t)>& child) {
  // A rank must not hold the reading end of another's pipe, nor anything else of the launcher's;
  // least of all what the launcher alone may hold.
  tether.held.reset();
  const bool ready = set_up_child({rank, options.first_rank, launcher, relay ? &output : nullptr,
                                   cores.empty() ? nullptr : &cores,
                                   options.tethers ? &tether.handed_on : nullptr});
  output = {};
  relay.reset();
  processes.clear();
  descriptors.restore();
  signals.close();
  if (!ready) _exit(1);
  run_child(child, rank);
}

// False, with errno, where the system refuses.
bool Launch::start(std::uint32_t rank, const std::function<int(std::uint32_t)>& child) {
  OutputPipes output;
  if (relay) {
    output = relay->add(options.first_rank + rank);
    if (!output.out.is_open() || !output.err.is_open()) return false;
  }
  Tether tether;
  if (options.tethers) {
    tether = make_tether();
    if (!tether.held.is_open()) return false;
  }
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) become(rank, launcher, std::move(output), std::move(tether), child);
  // The process cannot be recycled before it is waited for, so the handle is the rank's.
  Fd handle(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  processes.push_back({pid, std::move(handle), std::move(tether.held)});
  // A container's filter or an old kernel may have none: for the same reason its number will do.
  return processes.back().handle.is_open() || errno == EPERM || errno == EACCES || errno == ENOSYS;
}

std::string note_on_descriptors(int code, const LaunchOptions& options) {
  if (code != EMFILE) return {};
  return fmt::format(" ({} for each rank are needed, and this process may have {}: ulimit -Hn)",
                     1 + (options.tethers ? 1 : 0) + (options.tag_output ? 2 : 0),
                     DescriptorLimit::current());
}

void complain(const std::string& what) {
  write_all(2, fmt::format("muster: {}\n", what));
}

}  // namespace

int launch(const LaunchOptions& options, const std::function<int(std::uint32_t rank)>& child) {
  fill_standard_descriptors();
  // What is buffered now would be written once by each rank.
  std::cout.flush();
  std::fflush(nullptr);

  Launch job(options);
  if (!job.signals.is_open() || (options.bind == Bind::cores && job.cores.empty())) {
    complain(fmt::format("cannot start the ranks: {}", std::strerror(errno)));
    return 1;
  }
  bool started = true;
  for (std::uint32_t rank = 0; started && rank < options.ranks; ++rank) {
    started = job.start(rank, child);
    if (started) continue;
    const int code = errno;
    complain(fmt::format("cannot start rank {} of {}: {}{}", options.first_rank + rank,
                         options.ranks, std::strerror(code),
                         note_on_descriptors(code, options) + note_on_processes(code)));
  }
  if (job.relay && !job.relay->start()) {
    complain(fmt::format("cannot start the thread that passes the output on: {}{}",
                         std::strerror(errno), note_on_processes(errno)));
    job.relay.reset();  // what the ranks write ends with it
    started = false;
  }
  Supervisor supervisor(options, std::move(job.processes), job.signals, job.orphanage,
                        job.relay.get());
  if (started && options.on_started) options.on_started();
  if (started) return supervisor.run();
  supervisor.abandon();
  return 1;
}

}  // namespace muster::launcher
