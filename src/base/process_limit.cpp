#include "base/process_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

namespace muster {

std::string note_on_processes(int code) {
  if (code != EAGAIN) return {};
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return fmt::format(
        " (ulimit -u allows {} processes and threads of this user; or its control group, pids.max, "
        "or the memory for a stack is the limit)",
        limit.rlim_cur);
  }
  return " (the limit is that of its control group, pids.max, or the memory for a stack)";
}

}  // namespace muster
