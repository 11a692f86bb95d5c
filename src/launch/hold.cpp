#include "launch/hold.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.hpp"
#include "base/gone.hpp"
#include "launch/ancestor.hpp"
#include "launch/tether.hpp"
#include "launch/watcher.hpp"

namespace muster::launcher {
namespace {

// Between two looks, where the kernel does not tell of the end of a process.
constexpr auto between_looks = std::chrono::milliseconds(200);

std::optional<Ancestor>& early_ancestor() {
  static std::optional<Ancestor> ancestor;
  return ancestor;
}

void wait_for_end(const Ancestor& ancestor, const Fd& handle) {
  pollfd end{handle.get(), POLLIN, 0};
  while (handle.is_open() && poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  // There may be no handle, or the program may have closed it; and it may have been opened for a
  // successor. What counts is what /proc says.
  while (!has_gone(ancestor)) std::this_thread::sleep_for(between_looks);
}

void watch(const Ancestor& ancestor, const std::string& launcher, const std::string& rank) {
  watch_by_thread(-1, [=](const std::function<void()>& armed, bool) {
    const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, ancestor.pid, 0)));
    if (has_gone(ancestor)) end_without_launcher(launcher, rank);
    armed();
    wait_for_end(ancestor, handle);
    end_without_launcher(launcher, rank);
  });
}

}  // namespace

void hold_on_to_launcher(const LaunchedBy& self) {
  const std::string rank = fmt::format("rank {}", self.rank);
  if (self.launcher == Launcher::muster) return hold_tether(rank);
  const auto now = launching_ancestor(self);
  const auto ancestor = early_ancestor() ? early_ancestor() : now;
  if (ancestor) watch(*ancestor, name_of(self.launcher), rank);
}

void hold_on_early() {
  hold_tether_early();
  const auto self = detect();
  if (self && *self && (*self)->launcher != Launcher::muster)
    early_ancestor() = launching_ancestor(**self);
}

}  // namespace muster::launcher
