#include "launch/tether.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/gone.hpp"
#include "launch/environment.hpp"
#include "launch/watcher.hpp"

namespace muster::launcher {
namespace {

constexpr const char* variable = "MUSTER_TETHER";

std::optional<ino_t> pipe_behind(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode)) return std::nullopt;
  return info.st_ino;
}

// "descriptor:inode". A descriptor of that number may be something else by now, and whatever came
// in there would kill the rank.
std::optional<int> inherited() {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view all(text);
  int fd = -1;
  ino_t pipe = 0;
  const auto [colon, no_fd] = std::from_chars(all.begin(), all.end(), fd);
  if (no_fd != std::errc{} || colon == all.end() || *colon != ':') return std::nullopt;
  const auto [end, no_pipe] = std::from_chars(colon + 1, all.end(), pipe);
  if (no_pipe != std::errc{} || end != all.end() || pipe_behind(fd) != pipe) return std::nullopt;
  return fd;
}

// False where the kernel does not do it.
bool ask_to_be_killed(int fd) {
  const f_owner_ex self{F_OWNER_PID, getpid()};
  const int flags = fcntl(fd, F_GETFL);
  // The signal before the owner: what happens between is a SIGIO to nobody.
  return flags >= 0 && fcntl(fd, F_SETSIG, SIGKILL) == 0 && fcntl(fd, F_SETOWN_EX, &self) == 0 &&
         fcntl(fd, F_SETFL, flags | O_ASYNC) == 0 && (fcntl(fd, F_GETFL) & O_ASYNC) != 0;
}

bool has_owner(int fd) {
  f_owner_ex owner{};
  if (fcntl(fd, F_GETOWN_EX, &owner) != 0 || owner.pid == 0) return false;
  return kill(owner.pid, 0) == 0 || errno != ESRCH;
}

bool is_hung_up(int fd) {
  pollfd end{fd, POLLIN, 0};
  return poll(&end, 1, 0) > 0;
}

void watch(int fd, const std::string& rank) {
  const auto pipe = pipe_behind(fd);
  watch_by_thread(fd, [=](const std::function<void()>& armed, bool alone) {
    armed();
    pollfd end{fd, POLLIN, 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
    // In a table that is the program's the descriptor may be something else by now.
    if (alone || pipe_behind(fd) == pipe) end_without_launcher(name_of(Launcher::muster), rank);
  });
}

}  // namespace

Tether make_tether() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  fcntl(ends[0], F_SETPIPE_SZ, 1);  // a page: a user may have so many for all pipes together
  return {Fd(ends[1]), Fd(ends[0])};
}

void hand_on(const Fd& tether) {
  const auto pipe = pipe_behind(tether.get());
  if (!pipe) return;
  fcntl(tether.get(), F_SETFD, 0);
  setenv(variable, fmt::format("{}:{}", tether.get(), *pipe).c_str(), 1);
}

void hold_tether(const std::string& rank) {
  const auto fd = inherited();
  if (!fd) return;
  fcntl(*fd, F_SETFD, FD_CLOEXEC);
  if (getpid() == 1 || !ask_to_be_killed(*fd)) watch(*fd, rank);
  // It may have ended before we asked.
  if (is_hung_up(*fd)) end_without_launcher(name_of(Launcher::muster), rank);
}

void hold_tether_early() {
  const auto fd = inherited();
  if (!fd || getpid() == 1 || has_owner(*fd)) return;
  if (ask_to_be_killed(*fd) && is_hung_up(*fd)) {
    end_without_launcher(name_of(Launcher::muster), "a rank");
  }
}

}  // namespace muster::launcher
