// What /proc says of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace muster::launcher {

struct ProcessStat {
  pid_t parent = 0;
  char state = 'X';  // 'S', 'Z', ...
  std::uint64_t started =
      0;  // in clock ticks since the machine's start: no two of one number alike
};

// No value where there is no such process, or no /proc.
[[nodiscard]] std::optional<ProcessStat> stat_of(pid_t pid);

}  // namespace muster::launcher
