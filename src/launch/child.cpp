#include "launch/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "launch/binding.hpp"
#include "launch/tether.hpp"

namespace muster::launcher {
namespace {

bool refuse(std::uint32_t rank, const char* what) {
  write_all(2, fmt::format("muster: rank {}: {}: {}\n", rank, what, std::strerror(errno)));
  return false;
}

}  // namespace

void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) close(fd);
}

bool set_up_child(const ChildSetup& setup) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return refuse(setup.first_rank + setup.rank, "PR_SET_PDEATHSIG");
  // The launcher may have died before the line above: then nobody would send the signal.
  if (getppid() != setup.launcher) _exit(1);

  if (setup.output != nullptr) {
    if (dup2(setup.output->out.get(), 1) < 0 || dup2(setup.output->err.get(), 2) < 0) {
      return refuse(setup.first_rank + setup.rank, "cannot redirect the output");
    }
  }
  if (setup.first_rank + setup.rank != 0) {
    const Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (dup2(nothing.get(), 0) < 0)
      return refuse(setup.first_rank + setup.rank, "cannot redirect the input");
  }
  if (setup.tether != nullptr) hand_on(*setup.tether);
  if (setup.cores != nullptr && !pin_to_core(*setup.cores, setup.rank)) {
    return refuse(setup.first_rank + setup.rank, "cannot bind to a core");
  }
  return true;
}

void run_child(const std::function<int(std::uint32_t)>& child, std::uint32_t rank) noexcept {
  const int status = child(rank);
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace muster::launcher
