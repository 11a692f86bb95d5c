// Drives a real program from a test: starts it, signals it, waits for it, reads what it wrote.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace muster::testing {

// Long enough for a machine with much else to do; nothing waits that long when all is well.
inline constexpr std::chrono::seconds patience{60};

// True as soon as `condition` holds, false when it still does not after patience.
bool eventually(const std::function<bool()>& condition);

struct CommandOptions {
  std::map<std::string, std::string> environment{};  // on top of the test's own
  std::string input{};                               // what the program reads on stdin
  int output = -1;                                   // its stdout; -1: kept for out()
};

// A program that runs in a process group of its own. Killed, where it still runs, when this goes.
class Command {
 public:
  explicit Command(const std::vector<std::string>& words, const CommandOptions& options = {});
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int signal) const;

  // Its exit status, 128 + n for signal n, or -1 when it has not ended after patience.
  int wait();

  // What it has written so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  [[nodiscard]] std::vector<std::string> out_lines() const;

  // Waits until a line of stdout, or of stderr, holds `text` at least `times`.
  [[nodiscard]] bool has_written(const std::string& text, int times = 1) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  Fd out_;
  Fd err_;
};

// `muster run` with these arguments, or another verb.
std::vector<std::string> muster(std::vector<std::string> arguments);

// muster run [options] sh -c script
std::vector<std::string> run_script(std::vector<std::string> options, const std::string& script);

// Of those that have been waited for.
double processor_seconds_of_children();

int count(const std::string& text, const std::string& part);
std::vector<std::string> lines_of(const std::string& text);

// The state of a process as in /proc/PID/stat: 'S', 'T', 'Z', ...; 'X' where there is none.
char state_of(pid_t pid);

// Has it ended? Also where nobody has waited for it yet.
bool has_ended(pid_t pid);

// The processes whose environment holds NAME=value and that have not ended.
std::vector<pid_t> processes_marked(const std::string& name, const std::string& value);

}  // namespace muster::testing
