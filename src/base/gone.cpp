#include "base/gone.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace muster {

void end_without_launcher(const std::string& launcher, const std::string& rank) {
  // The launcher may have been the reader, and SIGPIPE is another status.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  const std::string line =
      fmt::format("muster: {}: {} is gone, which started it; the rank ends\n", rank, launcher);
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) > 0 && write(STDERR_FILENO, line.data(), line.size()) < 0) {
    // Nobody is there to be told.
  }
  _exit(launcher_gone_status);
}

}  // namespace muster
