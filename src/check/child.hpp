// A check in a process of its own: it may crash, hang or leave variables behind, and no other check
// notices; and several run at once, though the engine's handler of overflows is one to a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "check/asked.hpp"

namespace muster::check {

class Child {
 public:
  // Starts it. Throws std::system_error where the system has no process or pipe left.
  Child(const Command& command, const Entry& entry, double timeout);
  ~Child();  // ends it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] int descriptor() const { return reports_.get(); }
  [[nodiscard]] double seconds() const;  // since it began

  // Takes what it has written, and ends it where it should long have ended by itself. True once it
  // has ended; to be called when the descriptor is readable, and now and then.
  bool ended();
  void interrupt();

  // A report (as_json) for each profile, in their order. Where the child ended before it had one,
  // the report says why: over time, interrupted, or refuted where the body took the process along.
  [[nodiscard]] std::vector<nlohmann::json> reports() const;

 private:
  void read_reports();
  void reap();
  [[nodiscard]] bool stands_still();
  [[nodiscard]] nlohmann::json missing(Profile profile) const;

  const Entry& entry_;
  Options options_;
  std::vector<Profile> profiles_;
  double timeout_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  pid_t pid_ = -1;
  Fd reports_;
  std::string text_;
  double used_ = 0;  // processor seconds when last asked, which changed at:
  double used_at_ = 0;
  std::string bound_;   // why it ended too early, where that says nothing about the check
  std::string broken_;  // and where it does
};

}  // namespace muster::check
