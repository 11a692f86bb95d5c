// Notices exit() in the middle of a body, where no launcher of ours looks at how a process ends.
#pragma once

#include <string>

namespace muster {

// While one of these lives, exit(0) and quick_exit() in this process end it with status 1, and a
// line on stderr says that `who` has left its body; other codes of exit stay. Not seen: _exit(),
// and what a child of this process does. Any thread may make one.
class ExitWatch {
 public:
  explicit ExitWatch(std::string who);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
};

}  // namespace muster
