// A program that a test starts, watches and may kill.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace muster::testing {

// Looks every millisecond until the condition holds; false where it does not within the time.
template <class Condition>
[[nodiscard]] bool within(std::chrono::milliseconds time, Condition condition) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

[[nodiscard]] inline bool process_is_there(pid_t pid) {
  return kill(pid, 0) == 0;
}

// Ended, but not yet waited for by its parent.
[[nodiscard]] inline bool is_zombie(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t name_ends = line.rfind(')');  // the state follows the name
  return name_ends != std::string::npos && line.size() > name_ends + 2 &&
         line[name_ends + 2] == 'Z';
}

class ChildProgram {
 public:
  explicit ChildProgram(const std::vector<std::string>& command) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      execv(words[0], words.data());
      _exit(127);
    }
  }
  ~ChildProgram() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  // The exit status, 128 + n for a signal; -1 where it has not ended within the time.
  [[nodiscard]] int wait(std::chrono::milliseconds time) {
    int status = 0;
    if (!within(time, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) return -1;
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace muster::testing
